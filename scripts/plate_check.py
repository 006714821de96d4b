#!/usr/bin/env python3
"""A particle on the learned plates of case C-20, simulated without stiction.

usage: plate_check.py [--step H] [--json]

Prints the numbers that `reference/c20.json` holds as `derived`: rates around the circles, fraction of steps without contact, rates and
end positions on the saddle. It needs the standard library only and takes about half a minute.

The plate accelerates with A sin(w t + C) along and about the world axes. Positions and velocities follow with means of zero; the normal n
follows from n' = omega x n by the Runge-Kutta method. About several axes it begins so that the angles of R = Rx Ry Rz oscillate
symmetrically: minus the middle of their range in the first period from the identity.

One step of a particle of unit mass, with everything of the plate at its end (n, place p, velocity p', omega) and the lever to where the
particle was:

    u  = p' + omega x (x - p)                      velocity of the plate under the particle
    w  = v + h g
    r  = max(0, -(n (x - p) / h + n w))            normal impulse: the gap at the end is not negative, and zero where r > 0
    s  = (w - u) - n (n (w - u))                   slip without friction
    v+ = w + r n - s min(1, mu r / |s|)            Coulomb: it sticks if the cone allows it
    x+ = x + h v+
"""

import argparse
import json
import math

FREQUENCY = 33.0
OMEGA = 2.0 * math.pi * FREQUENCY
GRAVITY = 9.81
FRICTION = 0.3
CM = 100.0

# Amplitudes and phases along x, y, z (m/s^2) and about them (rad/s^2), as the source prints them; the labels of the saddle are corrected.
STILL = (0.0, 0.0)
CIRCLES = {
    "in_contact": (STILL, STILL, (9.81585, 6.33218), STILL, STILL, (62.913, 0.0)),
    "equations": (STILL, STILL, (15.3654, 6.5374), STILL, STILL, (40.8332, 0.0)),
    "text": (STILL, STILL, (16.3305, 6.91229), STILL, STILL, (40.7791, 0.0)),
}
# With the labels as they are printed, translations of 155 and 204 m/s^2.
SADDLE_AS_PRINTED = ((155.816, 0.430032), (204.171, 5.77261), STILL, (3.88479, -1.08465), (-4.31188, -2.0938), STILL)
SADDLE = ((3.88479, -1.08465), (-4.31188, -2.0938), STILL, (155.816, 0.430032), (204.171, 5.77261), STILL)
RADII = (4.0, 6.0, 8.0)
STARTS = ((4.0, 4.0), (6.0, 2.0))
DURATION = 6.0
RATE_FROM = 1.0


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def velocity(sinusoids, t):
    """The integral of A sin(w t + C) whose mean is zero."""
    return tuple(-a / OMEGA * math.cos(OMEGA * t + c) for a, c in sinusoids)


def place(sinusoids, t):
    """The second integral whose mean is zero."""
    return tuple(-a / OMEGA**2 * math.sin(OMEGA * t + c) for a, c in sinusoids)


def turned(about, vector, t, h):
    """A vector of the plate a time h later: one Runge-Kutta step for e' = omega x e."""
    start, middle, end = (velocity(about, t + part * h) for part in (0.0, 0.5, 1.0))

    def moved(rate, by):
        return tuple(e + by * k for e, k in zip(vector, rate))

    k1 = cross(start, vector)
    k2 = cross(middle, moved(k1, 0.5 * h))
    k3 = cross(middle, moved(k2, 0.5 * h))
    k4 = cross(end, moved(k3, h))
    new = tuple(e + h / 6.0 * (a + 2.0 * b + 2.0 * c + d) for e, a, b, c, d in zip(vector, k1, k2, k3, k4))
    length = math.sqrt(dot(new, new))
    return tuple(e / length for e in new)


def first_normal(about):
    """The normal of the plate at t = 0."""
    if sum(a != 0.0 for a, _ in about) <= 1:
        angles = place(about, 0.0)  # only about z here, which leaves the normal alone
        if angles[0] != 0.0 or angles[1] != 0.0:
            raise SystemExit("one axis in the plane: not needed here")
        return (0.0, 0.0, 1.0)
    columns = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    count = 2000
    h = 1.0 / FREQUENCY / count
    low, high = [0.0, 0.0], [0.0, 0.0]
    for k in range(count):
        columns = [turned(about, column, k * h, h) for column in columns]
        z = columns[2]
        # R = Rx(a) Ry(b) Rz(c): its last column is (sin b, -sin a cos b, cos a cos b).
        for j, angle in enumerate((math.atan2(-z[1], z[2]), math.asin(z[0]))):
            low[j], high[j] = min(low[j], angle), max(high[j], angle)
    a, b = (-0.5 * (low[j] + high[j]) for j in range(2))
    return (math.sin(b), -math.sin(a) * math.cos(b), math.cos(a) * math.cos(b))


def simulate(motion, start, h, duration=DURATION):
    """Positions after every step in m, beginning with the start (in cm, on the plate), and the fraction of steps without contact."""
    along, about = motion[:3], motion[3:]
    n = first_normal(about)
    p = place(along, 0.0)
    x, y = (coordinate / CM for coordinate in start)
    x = (x, y, p[2] - (n[0] * (x - p[0]) + n[1] * (y - p[1])) / n[2])
    v = (0.0, 0.0, 0.0)
    places, airborne = [x], 0
    steps = round(duration / h)
    for k in range(steps):
        n = turned(about, n, k * h, h)
        t = (k + 1) * h
        p, p_rate, omega = place(along, t), velocity(along, t), velocity(about, t)
        lever = (x[0] - p[0], x[1] - p[1], x[2] - p[2])
        turn = cross(omega, lever)
        free = (v[0], v[1], v[2] - h * GRAVITY)
        r = -(dot(n, lever) / h + dot(n, free))
        if r > 0.0:
            relative = tuple(w - a - b for w, a, b in zip(free, p_rate, turn))
            normal = dot(n, relative)
            slip = tuple(s - normal * e for s, e in zip(relative, n))
            speed = math.sqrt(dot(slip, slip))
            fraction = min(1.0, FRICTION * r / speed) if speed > 0.0 else 0.0
            v = tuple(w + r * e - fraction * s for w, e, s in zip(free, n, slip))
        else:
            v = free
            airborne += 1
        x = tuple(a + h * b for a, b in zip(x, v))
        places.append(x)
    return places, airborne / steps


def circle(motion, h):
    """Mean angular rates at the radii from RATE_FROM on, and the fraction of steps without contact."""
    rates, fractions = [], []
    for radius in RADII:
        places, airborne = simulate(motion, (radius, 0.0), h)
        first, last = (places[round(t / h)] for t in (RATE_FROM, DURATION))
        angle = math.atan2(last[1], last[0]) - math.atan2(first[1], first[0])
        rates.append(angle / (DURATION - RATE_FROM))
        fractions.append(airborne)
    return {"rates": rates, "airborne": sum(fractions) / len(fractions)}


def saddle(motion, start, h):
    """Rates over the second about the middle of the run (33 whole periods), and the end in cm."""
    places, _ = simulate(motion, start, h)
    middle = 0.5 * DURATION
    before, at, after, end = (places[round(t / h)] for t in (middle - 0.5, middle, middle + 0.5, DURATION))
    rate = [(after[j] - before[j]) / at[j] for j in range(2)]
    return {
        "x": start[0],
        "y": start[1],
        "rate_x": rate[0],
        "rate_y": rate[1],
        "end_x": end[0] * CM,
        "end_y": end[1] * CM,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=float, default=1e-4, help="length of a step, s")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    found = {name: circle(motion, arguments.step) for name, motion in CIRCLES.items()}
    for name, motion in (("saddle", SADDLE), ("saddle_as_printed", SADDLE_AS_PRINTED)):
        found[name] = [saddle(motion, start, arguments.step) for start in STARTS]
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    for name in CIRCLES:
        rates = " ".join(f"{rate:.6f}" for rate in found[name]["rates"])
        print(f"{name}: rates {rates} rad/s at 4, 6, 8 cm, in the air {found[name]['airborne']:.4f}")
    for name in ("saddle", "saddle_as_printed"):
        for row in found[name]:
            rates = f"vx/x {row['rate_x']:.6f}, vy/y {row['rate_y']:.6f} 1/s"
            end = f"({row['end_x']:.5f}, {row['end_y']:.5f}) cm"
            print(f"{name} from ({row['x']}, {row['y']}) cm: {rates}, ends at {end}")


if __name__ == "__main__":
    main()
