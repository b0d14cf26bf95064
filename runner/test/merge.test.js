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
