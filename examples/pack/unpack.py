#!/usr/bin/env python3
"""Unpacks a packed Pajé trace: unpack.py FILE.pjp > FILE.trace

It follows docs/pack.md and nothing else, section by section; it is slow, and that is no matter. It needs zstandard of PyPI.
"""

import itertools
import struct
import sys
import zlib
from collections import defaultdict

import zstandard

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF


# The file

def pages(data):
    """(kind, content, bytes in the file) of each page, in order."""
    if data[:8] != b"\x89PJP\r\n\x1a\n":
        raise ValueError("no packed trace")
    (version,) = struct.unpack_from("<I", data, 8)
    if version != 1:
        raise ValueError(f"version {version}")
    at, number = 12, 0
    while True:
        kind, compressed, size, kept, checksum = struct.unpack_from("<BBIII", data, at)
        content = data[at + 14:at + 14 + kept]
        if zlib.crc32(content, zlib.crc32(data[at:at + 10], zlib.crc32(struct.pack("<I", number)))) != checksum:
            raise ValueError(f"byte {at}: the checksum is another")
        if compressed:
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
        if len(content) != size:
            raise ValueError(f"byte {at}: another size")
        yield kind, content, 14 + kept
        if kind == 11:
            place, end = struct.unpack_from("<Q8s", data, at + 14 + kept)
            if place != at or end != b"PJP end\n" or len(data) != at + 30 + kept:
                raise ValueError("the end")
            return
        at, number = at + 14 + kept, number + 1


def take_number(content, at):
    number = shift = 0
    while True:
        number |= (content[at] & 127) << shift
        shift += 7
        at += 1
        if content[at - 1] < 128:
            return number, at


def take_numbers(content, at, count):
    numbers = []
    for _ in range(count):
        number, at = take_number(content, at)
        numbers.append(number)
    return numbers, at


def check_index(content, segments, summaries):
    """Whether the index says what was read: the numbers of each segment, and the bytes of each summary."""
    count, at = take_number(content, 0)
    if count != len(segments):
        raise ValueError(f"the index has {count} segments")
    for segment in segments:
        numbers, at = take_numbers(content, at, 4)
        if numbers != segment:
            raise ValueError("the index tells of another segment")
    count, at = take_number(content, at)
    if count != len(summaries):
        raise ValueError(f"the index has {count} summaries")
    for size in summaries:
        (said, _version, length), at = take_numbers(content, at, 3)
        if said != size or length > 255:
            raise ValueError("the index tells of another summary")
        at += length
    if at != len(content):
        raise ValueError("something follows in the index")


def unpack(data):
    found, segments, summaries = pages(data), [], []
    for kind, content, kept in found:
        if kind == 11:
            check_index(content, segments, summaries)
            return
        if kind == 12:
            summaries.append(kept)
            continue
        (length, lines, after, zeros, which), at = take_numbers(content, 0, 5)
        (checksum,) = struct.unpack_from("<I", content, at)
        parts, number = [b""] * 9, 1
        for part in range(9):
            if which >> part & 1:
                kind, parts[part], more = next(found)
                assert kind == 2 + part
                kept, number = kept + more, number + 1
        text = parts[8] or Segment(parts, length, after, zeros).text(lines, length)
        if zlib.crc32(text) != checksum:
            raise ValueError("another text than was packed")
        segments.append([kept, number, length, lines])
        yield text


# Columns

def sheet(page):
    """The columns of a page, by number: an iterator over the bytes of each."""
    columns = defaultdict(lambda: iter(b""))
    if not page:
        return columns
    parts, number = [], 0
    count, at = take_number(page, 0)
    for _ in range(count):
        skipped, at = take_number(page, at)
        size, at = take_number(page, at)
        kept = None
        if size >= 512:
            kept, at = take_number(page, at)
        number += skipped
        parts.append((number, size, kept))
        number += 1
    together, at = take_number(page, at)

    def body(size, kept):
        nonlocal at
        content = page[at:at + kept]
        at += kept
        if kept != size:
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
        return content

    for number, size, kept in parts:
        if kept is not None:
            columns[number] = iter(body(size, kept))
    shared, start = body(sum(size for _, size, kept in parts if kept is None), together), 0
    for number, size, kept in parts:
        if kept is None:
            columns[number] = iter(shared[start:start + size])
            start += size
    return columns


class Stream:
    def __init__(self, page, texts):
        self.columns = sheet(page)
        self.texts, self.text_at = texts, 0
        self.runs = {}

    def byte(self, column):
        return next(self.columns[column])

    def number(self, column):
        first = self.byte(column)
        if first < 240:
            return first
        return sum(self.byte(column + 1 + place) << 8 * place for place in range(first - 239))

    def right(self, column):
        left = self.runs.get(column)
        if left is None:
            left = shift = 0
            while True:
                byte = self.byte(column)
                left |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
        self.runs[column] = left - 1 if left else None
        return left > 0

    def text(self):
        end = self.texts.index(b"\n", self.text_at)
        text = self.texts[self.text_at:end]
        self.text_at = end + 1
        return text


def mix(a, b):
    mixed = (((a ^ b * 0x9E3779B1 & M32) + 0x7F4A7C15 & M32) * 0x85EBCA6B) & M32
    return mixed ^ mixed >> 15


class Trust:
    def __init__(self):
        self.trust = 0

    def group(self):
        return (self.trust - 1).bit_length()

    def learn(self, right):
        """Whether the guess stays."""
        if right and self.trust:
            self.trust = min(self.trust + 1, 15)
            return True
        stays = self.trust > 3
        self.trust = self.trust // 2 if stays else 1
        return stays


class Guesses:
    def __init__(self, room):
        self.mask = (1 << room) - 1
        self.guesses = defaultdict(lambda: [None, Trust()])

    def asked(self, context, least=1):
        """The guess if there is one of so much trust."""
        guess, trust = self.guesses[context & self.mask]
        return guess if trust.trust >= least else None

    def right(self, stream, context, column, least=1, tried=None):
        """The guess if it is asked for, was not tried, and is right; else None."""
        guess = self.asked(context, least)
        if guess is None or guess == tried:
            return None
        group = self.guesses[context & self.mask][1].group()
        return guess if stream.right(column + group) else None

    def learn(self, context, came):
        found = self.guesses[context & self.mask]
        if not found[1].learn(found[0] == came):
            found[0] = came


# Lines

class Lane:
    def __init__(self):
        self.long = self.middle = self.short = 0

    def learn(self, action):
        hashed = mix(action, 5)
        self.long = (self.long << 5 & M32) ^ hashed
        self.middle = (self.middle << 8 & M32) ^ hashed
        self.short = (self.short << 16 & M32) ^ hashed


class Lines:
    def __init__(self, room):
        self.names, self.actions = [b""], [b""]
        self.lanes = [Lane()]
        self.steps, self.numbers = [], {}
        self.lane = self.before = 0
        self.next_steps = Guesses(room)
        self.next_lanes = [Guesses(room), Guesses(room)]
        self.next_actions = [Guesses(room), Guesses(room)]

    def next(self, stream):
        """A line: its lane, its action, what the lane did before, and whether it is the lane of the line before."""
        now, before = self.lanes[self.lane], self.lanes[self.before]
        context = mix(mix(now.long, self.lane), before.short ^ self.before)
        step = self.next_steps.right(stream, context, 38, 2)
        if step is None:
            lane = self.next_lane(stream)
            action = self.next_action(stream, lane)
            step = self.numbers.setdefault((lane, action), len(self.steps))
            if step == len(self.steps):
                self.steps.append((lane, action))
        self.next_steps.learn(context, step)
        lane, action = self.steps[step]
        stays = lane == self.lane
        if not stays:
            self.before, self.lane = self.lane, lane
        history = self.lanes[lane].middle
        self.lanes[lane].learn(action)
        return lane, action, history, stays

    def next_lane(self, stream):
        here = mix(self.lane, 7)
        contexts = mix(here, self.lanes[self.lane].middle), mix(here, self.before)
        lane = self.one(stream, self.next_lanes, contexts, (0, 5, 20), 2)
        if lane == len(self.lanes):
            self.names.append(stream.text())
            self.lanes.append(Lane())
        return lane

    def next_action(self, stream, lane):
        now = self.lanes[lane]
        contexts = mix(now.long, 1), mix(now.short, lane)
        action = self.one(stream, self.next_actions, contexts, (10, 15, 29), 1)
        if action == len(self.actions):
            self.actions.append(stream.text())
        return action

    @staticmethod
    def one(stream, guesses, contexts, columns, least):
        came = guesses[0].right(stream, contexts[0], columns[0], least)
        if came is None:
            tried = guesses[0].asked(contexts[0], least)
            came = guesses[1].right(stream, contexts[1], columns[1], least, tried)
        if came is None:
            came = stream.number(columns[2])
        for some, context in zip(guesses, contexts):
            some.learn(context, came)
        return came


# Values: (kind, bits), where kind is "text", "hex", or the digits after the point

def signed(bits):
    bits &= M64
    return bits - (1 << 64) if bits >> 63 else bits


def unzigzag(number):
    return signed(number >> 1 ^ -(number & 1))


def size(number):
    number = signed(number)
    return (number << 1 if number >= 0 else ~number << 1 | 1).bit_length()


def decimal(number, after):
    digits = str(abs(number)).rjust(after + 1, "0")
    text = digits[:len(digits) - after] + ("." + digits[len(digits) - after:] if after else "")
    return (("-" if number < 0 else "") + text).encode()


class Field:
    def __init__(self):
        self.last = ("text", 0)
        self.values = []
        self.number = self.hex = 0
        self.averages = [0, 0, 0]

    def base(self, near):
        last, context, itself = self.averages
        if context < last and context <= itself:
            return near
        return self.number if last <= itself else 0

    def learn(self, came, near):
        for place, base in enumerate((self.number, near, 0)):
            average = self.averages[place]
            self.averages[place] = average - average // 16 + size(came - base)
        self.number = came


class Stride:
    def __init__(self):
        self.last = ("text", 0)
        self.stride = self.latest = 0
        self.trust = Trust()

    def guess(self):
        kind, bits = self.last
        return self.last if kind in ("text", "hex") else (kind, signed(bits + self.stride))

    def learn(self, came):
        right = self.trust.trust > 0 and self.guess() == came
        if not right:
            stride = 0
            if came[0] == self.last[0] and came[0] not in ("text", "hex"):
                stride = signed(came[1] - self.last[1])
            if stride == self.latest:
                self.stride = stride
            self.latest = stride
        self.trust.learn(right)
        self.last = came


class Fields:
    def __init__(self, room, first):
        self.first = first
        self.fields = defaultdict(Field)
        self.texts, self.numbers = [], {}
        self.mask = (1 << room) - 1
        self.strides = defaultdict(Stride)
        self.guesses = Guesses(room)

    def text(self, stream, number, first, second):
        """The text of a value, and its lowest 32 bits."""
        columns = self.first + number % 256 * 64
        field = self.fields[number]
        last = field.last[1] & M64
        stride = self.strides[mix(first, number) & self.mask]
        context = mix(mix(second, mix(last & M32, last >> 32)), number)
        came = guess = None
        if stride.trust.trust:
            guess = stride.guess()
            if stream.right(columns + stride.trust.group()):
                came = guess
        if came is None:
            came = self.guesses.right(stream, context, columns + 5, tried=guess)
            if came is None:
                came = self.other(stream, columns, field, stride.last)
            self.guesses.learn(context, came)
        field.last = came
        stride.learn(came)
        kind, bits = came
        if kind == "text":
            return self.texts[bits], bits
        text = b"%016x" % bits if kind == "hex" else decimal(bits, kind)
        return text, bits & M32

    def other(self, stream, columns, field, near):
        what = stream.byte(columns + 10)
        if what == 2:
            return field.values[stream.number(columns + 11)]
        if what == 0:
            text = stream.text()
            if text not in self.numbers:
                self.numbers[text] = len(self.texts)
                self.texts.append(text)
            came = "text", self.numbers[text]
        elif what == 1:
            bits = 0
            for piece in range(4):
                old = field.hex >> 16 * piece & 0xFFFF
                new = old + unzigzag(stream.number(columns + 29 + 4 * piece))
                bits |= (new & 0xFFFF) << 16 * piece
            field.hex = bits
            came = "hex", bits
        else:
            near = near[1] if near[0] not in ("text", "hex") else 0
            bits = signed(field.base(near) + unzigzag(stream.number(columns + 20)))
            field.learn(bits, near)
            came = what - 3, bits
        field.values.append(came)
        return came


# Keys

class Keys:
    def __init__(self, room):
        self.fields = Fields(room, 33)
        self.waiting = defaultdict(list)
        self.ended = {}
        self.how = 2

    def spell(self, stream, number, first, second):
        parts, values = [], []
        before = 0
        for part in range(stream.byte(2)):
            text, bits = self.fields.text(stream, number * 8 + part, first, mix(second, before))
            parts.append(text)
            values.append(text)
            before = mix(before, bits)
        return b"_".join(parts), values[:2]

    def start(self, stream, number, contexts):
        key, telling = self.spell(stream, number, *contexts)
        link = [key, telling, True]
        self.waiting[2, b""].append(link)
        for how, part in enumerate(telling):
            self.waiting[how, part].append(link)
        return key

    def end(self, stream, number, lane, contexts):
        how = self.how if stream.right(0) else stream.byte(1)
        if how == 3:
            return self.spell(stream, number, *contexts)[0]
        self.how = how
        index = 0 if stream.right(3 + how) else stream.number(6 + 9 * how)
        told = self.ended.get(lane, [])
        waiting = self.waiting[(how, told[how]) if how < len(told) else (2, b"")]
        while not waiting[0][2]:
            del waiting[0]
        link = next(itertools.islice((link for link in waiting if link[2]), index, None))
        link[2] = False
        self.ended[lane] = link[1]
        return link[0]


# Segments

class Segment:
    def __init__(self, parts, length, after, zeros):
        self.streams = [Stream(parts[2 * i], parts[2 * i + 1]) for i in range(4)]
        room = min(max(length.bit_length() - 6, 8), 14)
        self.after, self.unit = after, 10 ** zeros
        self.lines, self.values, self.keys = Lines(room), Fields(room, 0), Keys(room)
        self.time = 0
        self.durations, self.odd = Guesses(room), Fields(8, 1163)
        self.lane_times = defaultdict(int)
        self.events, self.fields = {}, 0

    def text(self, lines, length):
        text = b"\n".join(self.line() for _ in range(lines))
        return text if len(text) == length else text + b"\n"

    def line(self):
        line = self.lines.next(self.streams[0])
        lane, action, history, _ = line
        if action == 0:
            return self.streams[0].text()
        pattern = self.lines.actions[action]
        holes = sum(1 <= byte <= 5 for byte in pattern)
        code = pattern
        for white in (b" ", b"\t", b"\r", b"\x0c"):
            code = code.split(white, 1)[0]
        if (code, holes) not in self.events:
            self.events[code, holes] = self.fields
            self.fields += holes
        field, before, out = self.events[code, holes], 0, []
        own = mix(lane, action)
        for byte in pattern:
            if not 1 <= byte <= 5:
                out.append(bytes([byte]))
                continue
            if byte == 1:
                out.append(self.lines.names[lane])
            elif byte == 2:
                out.append(self.next_time(line))
            elif byte == 3:
                out.append(self.keys.start(self.streams[3], field, (own, mix(own, history))))
            elif byte == 4:
                out.append(self.keys.end(self.streams[3], field, lane, (own, mix(own, history))))
            else:
                text, before = self.values.text(self.streams[2], field, own, mix(action, before))
                out.append(text)
            field += 1
        return b"".join(out)

    def next_time(self, line):
        lane, action, history, stays = line
        stream = self.streams[1]
        if not stream.right(0):
            return self.odd.text(stream, 0, action, 0)[0]
        context = mix(history, action)
        duration = self.durations.right(stream, context, 1 + 5 * stays, 2)
        if duration is None:
            difference = unzigzag(stream.number(11 + (2 * (action % 64) + stays) * 9))
            duration = signed(self.time + difference - self.lane_times[lane])
        self.durations.learn(context, duration)
        self.time = self.lane_times[lane] = signed(self.lane_times[lane] + duration)
        return decimal(signed(self.time * self.unit), self.after)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: unpack.py FILE.pjp > FILE.trace")
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for text in unpack(data):
        sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main()
