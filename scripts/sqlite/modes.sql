.headers on
CREATE TABLE t(a,b); INSERT INTO t VALUES(1,'x,y'),(2,'q"r'),(NULL,'line
break');
.mode csv
SELECT * FROM t;
.mode json
SELECT * FROM t;
.mode box
SELECT * FROM t;
.mode insert foo
SELECT * FROM t;
.mode html
SELECT * FROM t;
.mode line
SELECT * FROM t;
.mode markdown
SELECT * FROM t;
.nullvalue NIL
.mode column
SELECT * FROM t;
.dump
.schema
.show
.system echo from the shell
.print printed
.tables
