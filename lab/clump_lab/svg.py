"""Charts as SVG, without any library: lines over a linear or logarithmic axis."""

import html
import math

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 40, 52
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#9a7d0a", "#7d3c98", "#ca6f1e", "#117a65", "#566573"]
DASHES = ["", "6 3", "2 3", "8 3 2 3"]
UNITS = (("M", 1 << 20), ("k", 1 << 10))


def in_bytes(value):
    """8, 1k, 4M: as sizes of messages are written."""
    for unit, factor in UNITS:
        if value >= factor and value % factor == 0:
            return f"{value // factor:.0f}{unit}"
    return f"{value:g}"


def digits(value):
    if value == 0:
        return "0"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e3 else f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.2e}"


class Axis:
    """From values to places between `begin` and `end`."""

    def __init__(self, values, begin, end, logarithmic=False, base=10, from_zero=False):
        low, high = min(values), max(values)
        self.logarithmic, self.base, self.begin, self.end = logarithmic and low > 0, base, begin, end
        if self.logarithmic:
            self.low = math.floor(math.log(low, base) + 1e-9)
            self.high = max(self.low + 1, math.ceil(math.log(high, base) - 1e-9))
        else:
            self.low = 0 if from_zero and low >= 0 else low
            self.high = high + 0.05 * (high - self.low) if high > self.low else self.low + 1

    def place(self, value):
        position = math.log(value, self.base) if self.logarithmic else value
        return self.begin + (self.end - self.begin) * (position - self.low) / (self.high - self.low)

    def ticks(self):
        if self.logarithmic:
            step = max(1, (self.high - self.low + 7) // 8)
            return [self.base ** exponent for exponent in range(self.low, self.high + 1, step)]
        rough = (self.high - self.low) / 5
        unit = 10 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        first = math.ceil(self.low / step - 1e-9)
        return [step * number for number in range(first, int(self.high / step + 1e-9) + 1)]


def text(x, y, words, anchor="middle", size=12, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}>{html.escape(words)}</text>'


def frame(chart, across, up):
    parts = []
    for tick in across.ticks():
        x = across.place(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 16, in_bytes(tick) if chart["x_is_bytes"] else digits(tick), size=11))
    for tick in up.ticks():
        y = up.place(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        parts.append(text(LEFT - 6, y + 4, digits(tick), "end", 11))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, chart["x"]))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(16, middle, chart["y"], extra=f' transform="rotate(-90 16 {middle:.1f})"'))
    parts.append(text(WIDTH / 2, 20, chart["title"], size=14, extra=' font-weight="bold"'))
    return parts


def line(points, spread, across, up, colour, dash):
    parts = []
    style = f' stroke-dasharray="{dash}"' if dash else ""
    path = " ".join(f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in points)
    parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2"{style} points="{path}"/>')
    for (x, y), (low, high) in zip(points, spread):
        place = across.place(x)
        if high > low:
            parts.append(f'<line stroke="{colour}" x1="{place:.1f}" y1="{up.place(low):.1f}" x2="{place:.1f}" y2="{up.place(high):.1f}"/>')
        parts.append(f'<circle cx="{place:.1f}" cy="{up.place(y):.1f}" r="3" fill="{colour}"><title>{digits(y)} at {digits(x)}</title></circle>')
    return parts


def legend(labels):
    parts, y = [], HEIGHT + 4
    for number, label in enumerate(labels):
        x = LEFT + (number % 2) * (WIDTH - LEFT) / 2
        if number % 2 == 0:
            y += 18
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        parts.append(f'<line x1="{x:.1f}" y1="{y - 4}" x2="{x + 24:.1f}" y2="{y - 4}" stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2"'
                     f' stroke-dasharray="{dash}"/>')
        parts.append(text(x + 30, y, label, "start", 11))
    return parts, y + 10


def draw(chart):
    """`chart`: title, x, y, and series {label: [(x, y, least y, greatest y), ...]}; x_log, y_log, x_is_bytes, x_base may be there."""
    chart = {"x_log": False, "y_log": False, "x_is_bytes": False, "x_base": 2, **chart}
    series = {label: sorted(points) for label, points in chart["series"].items() if points}
    if not series:
        raise ValueError(f"the chart '{chart['title']}' has no points")
    across = Axis([point[0] for points in series.values() for point in points], LEFT, WIDTH - RIGHT, chart["x_log"], chart["x_base"])
    up = Axis([value for points in series.values() for point in points for value in point[1:4]], HEIGHT - BOTTOM, TOP, chart["y_log"],
              from_zero=True)
    parts = frame(chart, across, up)
    for number, points in enumerate(series.values()):
        parts += line([point[:2] for point in points], [point[2:4] for point in points], across, up, COLOURS[number % len(COLOURS)],
                      DASHES[number // len(COLOURS) % len(DASHES)])
    below, height = legend(series)
    style = "<style>text{font-family:sans-serif;fill:#222}.grid{stroke:#ccc;stroke-width:0.6}</style>"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
            f'{style}<rect width="{WIDTH}" height="{height}" fill="#fff"/>' + "".join(parts + below) + "</svg>")
