// Tiles as they come: blocks of arrays, read in place. What they are stands in the program's tiles.rs.

const HEAD = 32;

function arrays(buffer, start) {
  let at = start;
  const take = (Kind, count) => {
    const found = new Kind(buffer, at, count);
    at += Math.ceil((count * Kind.BYTES_PER_ELEMENT) / 8) * 8;
    return found;
  };
  return { take, end: () => at };
}

function bins(block, take) {
  const { n, m } = block;
  block.ends = take(Uint32Array, n);
  block.starts = take(Uint32Array, n);
  block.values = take(Uint32Array, m);
  block.others = take(Uint32Array, m);
  block.amounts = take(Float32Array, m);
  block.delays = take(Float32Array, m);
}

function rows(block, take) {
  const { n } = block;
  block.start = take(Float64Array, n);
  block.end = take(Float64Array, n);
  block.height = take(Float64Array, n);
  block.number = take(Float64Array, n);
  block.values = take(Uint32Array, n);
  block.others = take(Uint32Array, n);
  block.goals = take(Uint32Array, n);
}

function ranges(block, take) {
  block.min = take(Float64Array, block.n);
  block.max = take(Float64Array, block.n);
  block.mean = take(Float64Array, block.n);
}

export function parseBlocks(buffer) {
  const view = new DataView(buffer);
  const found = [];
  let at = 0;
  while (at < buffer.byteLength) {
    const word = (i) => view.getUint32(at + 4 * i, true);
    const block = { lane: word(0), kind: word(1), level: word(2), n: word(3), m: word(4), first: view.getFloat64(at + 24, true) };
    const reader = arrays(buffer, at + HEAD);
    if (block.kind === 2) rows(block, reader.take);
    else if (block.kind === 3) ranges(block, reader.take);
    else bins(block, reader.take);
    block.isRows = block.kind === 2;
    block.bytes = reader.end() - at;
    found.push(block);
    at = reader.end();
  }
  return found;
}
