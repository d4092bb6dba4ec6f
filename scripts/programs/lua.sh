old_without=0004-cve-2022-28805.patch
package=lua5.4
binary=src/lua
libraries="-lm -ldl"
build() {
  cd src || return 1
  echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >lua5.4-deb-multiarch.h # debian/rules makes it
  $CC $CFLAGS -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -Wl,-E $(ls l*.c | grep -v '^luac\.c') -lm -ldl -o lua
}

# pcall and coroutines are setjmp and longjmp.
samples() {
  cat <<'END'
lua -e 'print(type(select(2, pcall(error, {1})))); print(pcall(error, "x", 0)); print(select("#", pcall(function() return 1, 2 end)))'
lua -e 'print(xpcall(function() local x = nil; return x.y end, function(m) return "handled " .. m end))'
lua -e 'for i = 1, 5 do print(pcall(function() if i % 2 == 0 then error("even " .. i) end return i end)) end'
lua -e 'local function g(n) for i = 1, n do coroutine.yield(i) end error("end") end local c = coroutine.create(g); for i = 1, 5 do print(coroutine.resume(c, 3)) end'
lua -e 'local function d(n) if n == 0 then error("deep") end return 1 + d(n - 1) end print(pcall(d, 150)); print(pcall(d, 1e7))'
lua -e 'error("uncaught")'
lua -e 'error({code = 2})'
lua -e 'local t = setmetatable({}, {__close = function() print "closed" end}); print(pcall(function() local x <close> = t; error "in" end))'
lua -e 'print(load("x = = 1")); print(load("return 1 +"))'
lua -e 'print(string.format("%5.2f %q %x %s", 3.14159, "a\nb", 255, {} ~= nil)); print(("hello"):gsub("l", {l = "L"}), ("k=v, x=y"):match("(%w+)=(%w+), (%w+)"))'
lua -e 'local n = 0; for l in io.lines("text") do n = n + #l end print(n); print(io.open("nosuch"))'
lua -e 'local t = {}; for i = 1, 1000 do t[i] = (i * 7919) % 1009 end table.sort(t); print(table.concat(t, " ", 1, 20)); print(pcall(table.sort, {3, "x", 1}))'
lua -e 'print(collectgarbage("count") > 0); for i = 1, 1e5 do local t = {i} end collectgarbage(); print(#arg, arg[0])' a b
echo 'print(1 + 1) = 2' | lua -
echo 'x = 1; print(x); y = x .. nil' | lua
lua -v
lua -x
lua nosuch.lua
lua -e 'os.exit(7)'
lua -e 'print(math.maxinteger // 0)'
lua -e 'local w = coroutine.wrap(function() print(pcall(coroutine.yield, 1)); error "w" end); print(w()); print(pcall(w, 2))'
END
}

workload() {
  echo 'lua -e "local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end print(f(30)); local n = 0; for i = 1, 300000 do if not pcall(error) then n = n + 1 end end print(n)"'
}
