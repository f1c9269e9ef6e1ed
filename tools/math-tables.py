#!/usr/bin/env python3
"""Writes src/base/math_tables.c: the constants of the elementary functions.

Everything is computed here with rational and decimal arithmetic of 120 digits (the
digits of 2/pi with 420), then rounded once to f64 pieces. Run:
    tools/math-tables.py > src/base/math_tables.c
"""
from decimal import Decimal, getcontext
from fractions import Fraction as F

getcontext().prec = 120
BITS = 1400  # fixed point of pi


def dec(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def frac(d):
    return F(d)


def arctan_inverse(n):  # atan(1/n), fixed point
    one = 1 << BITS
    total = term = one // n
    k = 1
    while term:
        term //= n * n
        k += 2
        total += term // k if k % 4 == 1 else -(term // k)
    return total


PI = F(4 * (4 * arctan_inverse(5) - arctan_inverse(239)), 1 << BITS)
LN2 = frac(Decimal(2).ln())


def double(x):
    return F(float(x)) if isinstance(x, F) else F(x)


def pieces(x, n):
    """n doubles whose sum is x, each the rounding of what is left."""
    out = []
    for _ in range(n):
        out.append(double(x))
        x -= out[-1]
    return out


def cut(x, unit):
    """x rounded to a multiple of 2^unit."""
    u = F(2) ** unit
    return F(round(x / u)) * u


def hexf(x):
    return float(x).hex()


def row(values):
    return "{" + ", ".join(hexf(v) for v in values) + "}"


def table(kind, name, rows):
    print(f"const {kind} {name}[{len(rows)}] = {{")
    for r in rows:
        print("    " + row(r) + ",")
    print("};\n")


def scalar(name, values):
    print(f"const double {name}[{len(values)}] = {{")
    for v in values:
        print(f"    {hexf(v)},")
    print("};\n")


def arctan(x):  # Euler's series, all terms positive
    x = frac(dec(x))
    total, term, n = F(0), x / (1 + x * x), 0
    y = x * x / (1 + x * x)
    while term > F(1, 10**90):
        total += term
        n += 1
        term = frac(dec(term * y * F(2 * n, 2 * n + 1)))
    return total


def erf(c):  # 2/sqrt(pi) exp(-c^2) sum 2^n c^(2n+1) / (2n+1)!!
    term, total, n = c, F(0), 0
    while term > F(1, 10**90):
        total += term
        n += 1
        term = frac(dec(term * 2 * c * c / (2 * n + 1)))
    return total * slope(c)


def slope(c):
    return frac(Decimal(2) / dec(PI).sqrt() * (-dec(c * c)).exp())


def main():
    print("/* Written by tools/math-tables.py: do not edit. */")
    print('#include "base/math_int.h"\n')

    table("gr_dd", "gr_exp_table", [pieces(frac((dec(LN2) * j / 128).exp()), 2) for j in range(128)])
    step = LN2 / 128
    p1 = cut(step, -8 - 32)
    p2 = cut(step - p1, -8 - 64)
    scalar("gr_exp_step", [p1, p2, double(step - p1 - p2)])

    rows = []
    for i in range(128):
        m = (1 + (F(i) + F(1, 2)) / 128) / (1 if i < 53 else 2)
        c = F(1) if i in (0, 127) else cut(1 / m, -9)
        v = -frac(dec(c).ln())
        h = cut(v, -42)
        rows.append([c, h, double(v - h)])
    table("gr_log_row", "gr_log_table", rows)
    h = cut(LN2, -42)
    scalar("gr_log_ln2", [h, double(LN2 - h)])
    scalar("gr_log_inverse_ln2", pieces(1 / LN2, 2))

    half = PI / 2
    q1 = cut(half, 1 - 33)
    q2 = cut(half - q1, 1 - 66)
    q3 = cut(half - q1 - q2, 1 - 99)
    scalar("gr_trig_step", [q1, q2, q3, double(half - q1 - q2 - q3)])
    scalar("gr_trig_half_pi", pieces(half, 2))
    scalar("gr_trig_sixth", pieces(F(-1, 6), 2))
    print("/* 64 zero bits, then the bits of 2/pi behind the point. */")
    words = 20
    bits = int(2 / PI * 2 ** (64 * (words - 1)))
    print(f"const uint64_t gr_trig_two_over_pi[{words}] = {{\n    0,")
    for w in range(words - 2, -1, -1):
        print(f"    0x{bits >> 64 * w & (1 << 64) - 1:016x},")
    print("};\n")

    table("gr_dd", "gr_atan_table", [pieces(arctan(F(j, 64)), 2) for j in range(65)])
    table("gr_erf_row", "gr_erf_table", [pieces(erf(F(j, 16)), 2) + pieces(slope(F(j, 16)), 2) for j in range(97)])
    scalar("gr_erf_slope", pieces(slope(F(0)) - 1, 2))


main()
