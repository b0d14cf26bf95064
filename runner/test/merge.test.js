// The reports of several processes become one, whatever is wrong with some of them.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('fs');
const path = require('path');
const { makeRepository, run } = require('./attempt');
const { damage, eventsOf, merge, readHtml, writeBlob } = require('./reports');

const repository = makeRepository({
  'a.spec.ts': `import { test } from '@playwright/test'; import * as fs from 'fs';
test('attaches', async ({}, info) => {
  for (const name of ['good', 'bad']) {
    fs.writeFileSync(info.outputPath(name), name.repeat(10000));
    await info.attach(name, { path: info.outputPath(name), contentType: 'application/octet-stream' });
  }
});`,
  'b.spec.ts': `import { test } from '@playwright/test'; test('other', () => {});`,
});

/** Two blobs, recorded once: one of each file. */
let recorded;
function record() {
  return recorded ??= Promise.all(['attaches', 'other'].map(async name => {
    const attempt = await run(repository, attempt => ({ include: [attempt.id(name)] }));
    return attempt.report('blob/report.zip');
  }));
}

function beside(blob, name) {
  return path.join(path.dirname(blob), name);
}

/** The names of all files that the merge left, and their contents in one. */
function leftOf(attempt) {
  const names = fs.readdirSync(attempt.outDir, { recursive: true }).filter(name => fs.statSync(attempt.report(name)).isFile());
  return { names, text: names.map(name => fs.readFileSync(attempt.report(name), 'latin1')).join('\n') };
}

test('a damaged attachment costs that attachment alone', async () => {
  const [blob, other] = await record();
  const bad = eventsOf(blob).flatMap(({ params }) => params?.attachments ?? params?.result?.attachments ?? []).find(({ name }) => name === 'bad').path;
  const damaged = await damage(blob, beside(blob, 'damaged.zip'), ({ name }) => name === bad, (bytes, at) => bytes[at + 30 + bad.length + 12] ^= 0xff);
  const merged = await merge(repository, [damaged, other]);
  assert.deepEqual(await merged.wait('merged'), { type: 'merged', total: 2, blobs: 2, skipped: [] });
  assert.equal(merged.all('error').length, 1);
  assert.ok(merged.all('error')[0].message.includes(`${bad} of ${damaged}`));
  const [attaches] = readHtml(merged).tests.get('a.spec.ts > attaches');
  const [good, missing] = attaches.results[0].attachments;
  assert.equal(fs.readFileSync(merged.report(path.join('html', good.path)), 'utf8'), 'good'.repeat(10000));
  assert.equal(missing.name, 'bad (missing)');
  assert.match(missing.body, /damaged/);
  assert.equal(missing.path, undefined);
});

test('what a blob says cannot reach outside of its folder', async () => {
  const [blob, other] = await record();
  const outside = beside(blob, 'outside');
  fs.writeFileSync(outside, 'nobody may see this');
  const sneak = text => text.replaceAll('"path":', '"p\\u0061th":').replace(/"p\\u0061th":"[^"]*"/g, `"p\\u0061th":${JSON.stringify(path.relative('/', outside).replace(/^/, '../'.repeat(20)))}`);
  const lines = eventsOf(blob).map(event => sneak(JSON.stringify(event)));
  assert.ok(lines.some(line => line.includes('outside')));
  // The last one of two keys counts, and each kind of event has a place of its own for attachments.
  const twice = lines.map(line => line.replace(/^\{"method":"(onAttach|onTestEnd)"/, '{"method":"onStdIO","method":"$1"').replace('"result":', '"attachments":[],"result":'));
  const evil = writeBlob(beside(blob, 'evil.zip'), { '../evil': 'evil', 'resources/../../evil': 'evil', [beside(blob, 'evil')]: 'evil', 'resources/sub/evil': 'evil', 'report.zip': 'evil', 'report.jsonl': twice });
  const before = fs.readdirSync(path.dirname(blob));
  const merged = await merge(repository, [evil, other]);
  assert.deepEqual(await merged.wait('merged'), { type: 'merged', total: 2, blobs: 2, skipped: [] });
  const { names, text } = leftOf(merged);
  assert.deepEqual(names.filter(name => /evil/.test(name)), []);
  assert.ok(!text.includes('nobody may see this'));
  assert.deepEqual(fs.readdirSync(path.dirname(blob)), before);
  assert.deepEqual(readHtml(merged).tests.get('a.spec.ts > attaches')[0].results[0].attachments.map(({ name }) => name), ['good (missing)', 'bad (missing)']);
});

test('blobs that nothing can be made of are left out, each with its reason', async () => {
  const [blob, other] = await record();
  const events = eventsOf(blob);
  const make = (name, lines) => writeBlob(beside(blob, name), lines !== undefined ? { 'report.jsonl': lines } : { 'readme.txt': 'hello' });
  const isEvents = ({ name }) => name === 'report.jsonl';
  const bad = {
    [make('none.zip')]: /has no report.jsonl/,
    [make('empty.zip', '')]: /has no events/,
    [make('null.zip', [...events.slice(0, 2), 'null', ...events.slice(2)])]: /no event/,
    [make('text.zip', [...events, 'no json'])]: /JSON/,
    [make('headless.zip', events.slice(1))]: /no report of Playwright/,
    [make('suites.zip', events.map(event => event.method === 'onProject' ? { method: 'onProject', params: {} } : event))]: /./,
    // These are events of the known form: only Playwright knows that they make no sense.
    [make('stranger.zip', [...events, { method: 'onTestBegin', params: { testId: 'stranger', result: { id: 'x', retry: 0 } } }])]: /ended with 1/,
    [make('newer.zip', events.map(event => event.method === 'onBlobReportMetadata' ? { ...event, params: { ...event.params, version: 99 } } : event))]: /newer version/,
    [await damage(blob, beside(blob, 'directory.zip'), isEvents, (bytes, _, record) => bytes.fill(0, record, record + 4))]: /directory is damaged/,
    [await damage(blob, beside(blob, 'far.zip'), isEvents, (bytes, _, record) => bytes.writeUInt32LE(0xfffffff0, record + 42))]: /cut off/,
    [await damage(blob, beside(blob, 'large.zip'), isEvents, (bytes, _, record) => bytes.writeUInt32LE(0xfffffff0, record + 24))]: /larger than the 2048 MB/,
    [await damage(blob, beside(blob, 'many.zip'), isEvents, bytes => bytes.writeUInt16LE(0xfff0, bytes.length - 12))]: /directory is damaged/,
  };
  const merged = await merge(repository, [...Object.keys(bad), blob, other]);
  const { skipped, ...rest } = await merged.wait('merged');
  assert.deepEqual(rest, { type: 'merged', total: 2, blobs: 2 });
  assert.deepEqual([...skipped].sort(), Object.keys(bad).sort());
  for (const [file, reason] of Object.entries(bad)) {
    const said = merged.all('error').filter(({ message }) => message.includes(file));
    assert.equal(said.length, 1, file);
    assert.match(said[0].message, reason);
  }
  assert.equal(readHtml(merged).stats.expected, 2);
});

test('an attachment of absurd size is left out', async () => {
  const [blob, other] = await record();
  const bomb = writeBlob(beside(blob, 'bomb.zip'), { 'resources/bomb': 'x'.repeat(8 << 20), 'report.jsonl': eventsOf(blob) });
  const isBomb = ({ name }) => name === 'resources/bomb';
  const small = await damage(bomb, beside(blob, 'small.zip'), isBomb, (bytes, _, record) => bytes.writeUInt32LE(10, record + 24));
  const large = await damage(bomb, beside(blob, 'large-bomb.zip'), isBomb, (bytes, _, record) => bytes.writeUInt32LE(0xfffffff0, record + 24));
  const merged = await merge(repository, [small, large, other]);
  assert.deepEqual(await merged.wait('merged'), { type: 'merged', total: 2, blobs: 3, skipped: [] });
  assert.deepEqual(merged.all('error').map(({ message }) => message.replace(/.*: /, '')), ['a part of it is larger than it says', 'it is larger than 2 GB']);
});

const lost = {
  id: 'lost', project: '', file: 'b.spec.ts', line: 1, column: 1, title: 'gone', titlePath: ['far', 'gone'],
  tries: [{ retry: 0, status: 'failed', startedAt: new Date(Date.now() - 7_200_000).toISOString(), durationMs: 5, errors: [{ message: 'no such shop' }] }],
};

function writeLost(blob, lines) {
  const file = beside(blob, 'lost.ndjson');
  fs.writeFileSync(file, lines.map(line => typeof line === 'string' ? line : JSON.stringify(line)).join('\n'));
  return file;
}

test('lines of results that make no sense are left out, each with its reason', async () => {
  const [, other] = await record();
  const one = lost.tries[0];
  const bad = [
    'no json', 'null', '5', '[]', '{}', { ...lost, id: 7 }, { ...lost, project: undefined }, { ...lost, file: {} }, { ...lost, title: null }, { ...lost, titlePath: 'gone' }, { ...lost, titlePath: [] },
    { ...lost, titlePath: [null] }, { ...lost, titlePath: Array(20000).fill('deep') }, { ...lost, tags: 'x' }, { ...lost, annotations: {} }, { ...lost, note: 5 }, { ...lost, retries: '2' }, { ...lost, expectedStatus: 'good' },
    ...['x', [], [null], {}, [{ ...one, durationMs: '5' }], [{ ...one, startedAt: 5 }], [{ ...one, retry: -1 }], [{ ...one, errors: 'x' }], [{ ...one, errors: [null] }], [{ ...one, errors: [{ location: { file: 5 } }] }]].map(tries => ({ ...lost, tries })),
  ];
  const good = { ...lost, tags: null, annotations: null, tries: [{ ...one, status: 'running', errors: null }] };
  const merged = await merge(repository, [other], { results: writeLost(other, [...bad, good, '']) });
  assert.equal((await merged.wait('merged')).total, 2);
  assert.deepEqual(merged.all('error').map(({ message }) => /^line (\d+) .*/.exec(message)?.[1]), bad.map((_, index) => String(index + 1)));
  const { tests } = readHtml(merged);
  assert.deepEqual([...tests.keys()].sort(), ['b.spec.ts > far > gone', 'b.spec.ts > other']);
  assert.equal(tests.get('b.spec.ts > far > gone')[0].results[0].status, 'interrupted');
  const none = await merge(repository, [other], { results: beside(other, 'nowhere.ndjson') });
  assert.equal((await none.wait('merged')).total, 1);
  assert.match(none.all('error')[0].message, /cannot be read.*nowhere/);
});

test('lost tests in describes of one title, of one ID and of no time', async () => {
  const [, other] = await record();
  const passed = [{ ...lost.tries[0], status: 'passed', errors: [] }];
  const results = writeLost(other, [
    { ...lost, id: '1', title: 'one', titlePath: ['same', 'one'], line: 3 },
    { ...lost, id: '2', title: 'two', titlePath: ['same', 'same', 'two'], line: 4, tries: passed },
    { ...lost, id: '3', title: 'three', titlePath: ['same', 'three'], line: 9, tries: passed },
    { ...lost, id: '4', title: 'one', titlePath: ['same', 'one'], line: 3, repeatEachIndex: 1, tries: passed },
    { ...lost, id: '5', title: 'set up', titlePath: ['set up'], tries: passed },
    { ...lost, id: '5', title: 'set up', titlePath: ['set up'] },
    { ...lost, id: '6', title: 'never', titlePath: ['never'], tries: [{ ...lost.tries[0], startedAt: '0001-01-01T00:00:00Z', durationMs: 0 }] },
    { ...lost, id: '5', title: 'set up', titlePath: ['set up'], tries: passed },
    { ...lost, id: '7', title: 'twice', titlePath: ['twice'], tries: passed },
    { ...lost, id: '7', title: 'twice', titlePath: ['twice'], tries: passed },
  ]);
  for (const blobs of [[other], []]) {
    const merged = await merge(repository, blobs, { results });
    assert.deepEqual(merged.all('error'), []);
    const { tests, startTime, duration, stats } = readHtml(merged);
    const seen = Object.fromEntries([...tests].map(([name, all]) => [name, all.map(({ outcome, results }) => `${outcome} ${results.length}`).sort().join(', ')]));
    assert.deepEqual(seen, {
      'b.spec.ts > same > one': 'expected 1, unexpected 1', 'b.spec.ts > same > same > two': 'expected 1', 'b.spec.ts > same > three': 'expected 1',
      'b.spec.ts > set up': 'expected 1, expected 1, unexpected 1', 'b.spec.ts > never': 'unexpected 1', 'b.spec.ts > twice': 'expected 1', ...(blobs.length && { 'b.spec.ts > other': 'expected 1' }),
    });
    assert.deepEqual(tests.get('b.spec.ts > same > one').map(({ outcome, repeatEachIndex }) => [outcome, repeatEachIndex]).sort(), [['expected', 1], ['unexpected', undefined]]);
    assert.equal((await merged.wait('merged')).total, stats.total);
    assert.equal(startTime, Date.parse(lost.tries[0].startedAt));
    if (!blobs.length)
      assert.equal(duration, 5);
  }
});
