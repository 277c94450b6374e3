"""Labels beside what they name, instead of a legend: those of lines in the margin to their right,
those of single points next to them. They are put where they are once everything else is drawn, so
that none is over a mark."""

import itertools
import textwrap

MARGIN_CHARACTERS = 18  # of a line of text in the margin
GAP = 4  # points between a mark and its label
FARTHEST = 60
ROUNDS = 200  # of pushing labels apart; some ten do


def pushed_apart(wanted, heights):
    """Places as near to the wanted ones, and in their order, as labels of so much height can be."""
    places = list(wanted)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    for _ in range(ROUNDS):
        for lower, upper in itertools.pairwise(order):
            overlap = (heights[lower] + heights[upper]) / 2 - (places[upper] - places[lower])
            if overlap > 0:
                places[lower] -= overlap / 2
                places[upper] += overlap / 2
    return places


def box_of(artist):
    return artist.get_window_extent(artist.figure.canvas.get_renderer())


def label_lines(axes, lines):
    """Names each of `lines` in the margin, at the height of its right end or as near as there is room,
    and leads from the one to the other."""
    texts = [
        axes.annotate(
            textwrap.fill(line.get_label(), MARGIN_CHARACTERS, break_long_words=False),
            xy=(1, 0.5),
            xycoords="axes fraction",
            xytext=(4 * GAP, 0),
            textcoords="offset points",
            color=line.get_color(),
            va="center",
            linespacing=1.05,
        )
        for line in lines
    ]
    fix_layout(axes)
    point = axes.figure.dpi / 72
    ends = [max(line.get_transform().transform(line.get_xydata()), key=lambda place: place[0]) for line in lines]
    heights = [box_of(text).height + point for text in texts]
    right, middle = axes.bbox.x1, (axes.bbox.y0 + axes.bbox.y1) / 2
    for line, text, (x, y), place in zip(lines, texts, ends, pushed_apart([y for _, y in ends], heights)):
        text.set_position((4 * GAP, (place - middle) / point))
        lead(axes, line.get_color(), (x, y), (right + GAP * point, y), (right + 3 * GAP * point, place))


def fix_layout(axes):
    """Gives margins the width of what is in them; what is moved from now on changes nothing else."""
    axes.figure.draw_without_rendering()
    axes.figure.set_layout_engine("none")


def lead(axes, colour, *places):
    """A thin line through places in pixels."""
    from matplotlib.lines import Line2D

    inverse = axes.transAxes.inverted()
    xs, ys = zip(*(inverse.transform(place) for place in places))
    axes.add_artist(Line2D(xs, ys, color=colour, linewidth=0.6, transform=axes.transAxes, clip_on=False, zorder=1))


def label_points(axes, points):
    """Names each of `points`, lines of a single mark each, where there is room next to it."""
    lines = [line.get_transform().transform_path(line.get_path()) for line in axes.lines if line not in points]
    taken = [box_of(point).padded(1) for point in points]
    for point, mark in zip(points, list(taken)):
        text = axes.text(0, 0, point.get_label(), color=point.get_color(), va="center", ha="center")
        text.set_transform(axes.transAxes)
        size = box_of(text)

        def is_free(box):
            return (
                axes.bbox.count_contains(box.corners()) == 4
                and not box.count_overlaps(taken)
                and not any(path.intersects_bbox(box, filled=False) for path in lines)
            )

        boxes = list(boxes_around(mark, size.width, size.height))
        box = next(filter(is_free, boxes), boxes[0])
        text.set_position(axes.transAxes.inverted().transform(((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)))
        taken.append(box)


def boxes_around(mark, width, height):
    """Right, left, above and below the mark and in between, then farther and farther from it."""
    from matplotlib.transforms import Bbox

    x, y = (mark.x0 + mark.x1) / 2, (mark.y0 + mark.y1) / 2
    for distance in range(GAP, FARTHEST, GAP):
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)):
            left = x + right * (distance + (mark.width + width) / 2) - width / 2
            bottom = y + up * (distance + (mark.height + height) / 2) - height / 2
            yield Bbox.from_bounds(left, bottom, width, height)
