.open files.db
DROP TABLE IF EXISTS t;
CREATE TABLE t(x);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) INSERT INTO t SELECT i*i FROM n;
CREATE INDEX ti ON t(x);
PRAGMA integrity_check;
SELECT count(*), sum(x) FROM t;
BEGIN; DELETE FROM t WHERE x%2; SELECT count(*) FROM t; ROLLBACK; SELECT count(*) FROM t;
VACUUM;
PRAGMA page_count; PRAGMA journal_mode=wal; INSERT INTO t VALUES(-1); SELECT min(x) FROM t; PRAGMA journal_mode=delete;
.backup copy.db
ATTACH 'copy.db' AS c; SELECT count(*) FROM c.t; DETACH c;
.output out.txt
SELECT x FROM t LIMIT 10;
.output
.once out2.txt
SELECT 'once';
.import --csv data.csv imp
SELECT * FROM imp; DROP TABLE imp;
.read nested.sql
.shell cat out.txt out2.txt
