#!/usr/bin/env python3
"""Writes LLVM IR of a chosen size, as clang -O0 would leave it, to measure how merging grows.

usage: growth.py many INSTRUCTIONS | long BLOCKS

many: functions of about 100 instructions that call one another, with loops, branches and a switch.
long: one function of that many basic blocks, with loops and branches over a few variables.
"""
import sys

VARIABLES = 6


class Function:
    def __init__(self, name):
        self.lines = [f"define i32 @{name}(i32 %n) {{"]
        self.count = 0
        self.values = 0
        for variable in range(VARIABLES):
            self.emit(f"%v{variable} = alloca i32")
        for variable in range(VARIABLES):
            self.emit(f"store i32 %n, ptr %v{variable}")

    def emit(self, text):
        self.lines.append("  " + text)
        self.count += 1

    def value(self, text):
        self.values += 1
        self.emit(f"%t{self.values} = {text}")
        return f"%t{self.values}"

    def label(self, name):
        self.lines.append(f"{name}:")

    def load(self, variable):
        return self.value(f"load i32, ptr %v{variable % VARIABLES}")

    def step(self, number):
        """v[number] = (v[number] op constant) + v[number + 1]"""
        operation = ("add", "xor", "sub", "mul", "or", "and")[number % 6]
        first = self.load(number)
        changed = self.value(f"{operation} i32 {first}, {number % 89 + 3}")
        second = self.load(number + 1)
        total = self.value(f"add i32 {changed}, {second}")
        self.emit(f"store i32 {total}, ptr %v{number % VARIABLES}")

    def end(self):
        self.emit(f"ret i32 {self.load(0)}")
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"


def small(number, count):
    """A function of about 100 instructions."""
    f = Function(f"f{number}")
    f.emit("br label %head")
    f.label("head")
    bound = f.value(f"and i32 {f.load(1)}, 7")
    done = f.value(f"icmp ugt i32 {bound}, {number % 5 + 1}")
    f.emit(f"br i1 {done}, label %out, label %body")
    f.label("body")
    for step in range(5):
        f.step(number + step)
    f.emit(f"switch i32 {f.load(2)}, label %other [ i32 1, label %one  i32 7, label %seven ]")
    f.label("one")
    f.step(number + 7)
    f.emit("br label %other")
    f.label("seven")
    if number + 1 < count:
        result = f.value(f"call i32 @f{number + 1}(i32 {f.load(3)})")
        f.emit(f"store i32 {result}, ptr %v4")
    f.emit("br label %other")
    f.label("other")
    for step in range(4):
        f.step(number * 3 + step)
    next_value = f.value(f"add i32 {f.load(1)}, 1")
    f.emit(f"store i32 {next_value}, ptr %v1")
    f.emit("br label %head")
    f.label("out")
    f.step(number)
    return f


def long(blocks):
    f = Function("f0")
    f.emit("br label %b0")
    for block in range(blocks):
        f.label(f"b{block}")
        f.step(block)
        onward = min(block + 1, blocks)
        # Mostly forwards, over one block; now and then back, as loops do.
        other = block - 5 if block % 16 == 15 else min(block + 2, blocks)
        condition = f.value(f"icmp ugt i32 {f.load(block)}, {block}")
        f.emit(f"br i1 {condition}, label %b{onward}, label %b{other}")
    f.label(f"b{blocks}")
    return f


def main():
    kind, size = sys.argv[1], int(sys.argv[2])
    out = ['target triple = "x86_64-pc-linux-gnu"\n']
    if kind == "many":
        count = max(1, size // small(0, 2).count)
        functions = [small(number, count) for number in range(count)]
    else:
        functions = [long(size)]
    out.extend(f.end() for f in functions)
    out.append("define i32 @main(i32 %argc, ptr %argv) {\n  %r = call i32 @f0(i32 %argc)\n")
    # Every function is called, so that none is dropped.
    for number in range(1, len(functions)):
        out.append(f"  %r{number} = call i32 @f{number}(i32 %argc)\n")
    out.append("  ret i32 0\n}\n")
    sys.stdout.write("".join(out))


main()
