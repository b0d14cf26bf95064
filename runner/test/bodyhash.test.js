// The fingerprint of a test's body: what must not change it, and what must.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { BodyHashes, hashOfCall } = require('../dist/bodyhash');

/** A source, with the place that a stack trace names marked by a bullet. */
const hash = marked => hashOfCall(marked.replace('•', ''), marked.indexOf('•'));
const base = hash(`•test('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`);

const same = {
  'another title': `•test('pays', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
  'another place and other code around': `import x from 'y'; const a = /[/)"]/;\n\n  •test('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });\ntest('z', () => {})`,
  'the place of the parenthesis': `test•('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
  'test.only': `test.•only('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
  'test.fixme': `test.•fixme('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
  'a wrapped test': `(0, test).•call('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
  'another formatting': `•test(\n  "buys",\n  async ({page}) => {\n    await page.goto("/")  ;\n    expect(1+2).toBe(3)\n  },\n)`,
  'CRLF': `•test('buys', async ({ page }) => {\r\n  await page.goto('/');\r\n  expect(1 + 2).toBe(3);\r\n});\r\n`,
  'comments': `•test(/* the */ 'buys', async ({ page }) => { // one, ) two\n await page.goto('/'); /* } */ expect(1 + 2).toBe(3); });`,
  'a title that is a template': '•test(`buys ${list(1, ")", `in ${ {a: 1}.a }`)} now`, async ({ page }) => { await page.goto("/"); expect(1 + 2).toBe(3); });',
  'a title with the signs of code': `•test('buys, (a) "b" \\' \`c', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
  'a title with type arguments before it': `•test<{ a: string }>('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
};
const different = {
  'another number': `•test('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(4); });`,
  'another string': `•test('buys', async ({ page }) => { await page.goto('/ '); expect(1 + 2).toBe(3); });`,
  'another operator': `•test('buys', async ({ page }) => { await page.goto('/'); expect(1 - 2).toBe(3); });`,
  'a step more': `•test('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); x(); });`,
  'details': `•test('buys', { tag: '@a' }, async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });`,
};

test('what leaves the fingerprint as it is', () => {
  assert.match(base, /^[0-9a-f]{64}$/);
  for (const [what, source] of Object.entries(same))
    assert.equal(hash(source), base, what);
});

test('what changes it', () => {
  const all = Object.entries(different).map(([what, source]) => [what, hash(source)]);
  for (const [what, value] of all) {
    assert.match(value, /^[0-9a-f]{64}$/, what);
    assert.notEqual(value, base, what);
  }
  assert.equal(new Set(all.map(([, value]) => value)).size, all.length);
});

test('bodies that only differ inside of what looks like something else', () => {
  const pairs = [
    ['() => { x = /[/"]\\/(/; y = "1" }', '() => { x = /[/"]\\/(/; y = "2" }'],
    ['() => { return /a"b/.test(`c`) }', '() => { return /a"c/.test(`c`) }'],
    ['() => { const r = a / b / c; s = "x" }', '() => { const r = a / b / c; s = "y" }'],
    ['() => `a ${ "}" + `b${1}` } c`', '() => `a ${ "}" + `b${2}` } c`'],
    ['() => `two  blanks`', '() => `two blanks`'],
    ['() => "// no comment 1"', '() => "// no comment 2"'],
    ['() => [a, , b]', '() => [a, b]'],
    ['() => a + +b', '() => a++b'],
    ['() => { const ab = 1 }', '() => { consta b = 1 }'],
  ];
  for (const [one, other] of pairs) {
    const [a, b] = [one, other].map(body => hash(`•test('t', ${body}); more(");")`));
    assert.match(a, /^[0-9a-f]{64}$/, one);
    assert.notEqual(a, b, one);
    assert.equal(a, hash(`•test('t', ${body(one)})`), one);
  }
  function body(text) { return text; }
});

test('what cannot be read has none', () => {
  assert.equal(hash(`•test('never closed', () => { `), '');
  assert.equal(hash(`•const x = 1;`), '');
  const hashes = new BodyHashes();
  assert.equal(hashes.at({ file: '/no/such/file.ts', line: 1, column: 1 }), '');
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'hash-')), 'a.ts');
  fs.writeFileSync(file, `\r\n  test('buys', async ({ page }) => { await page.goto('/'); expect(1 + 2).toBe(3); });\r\n`);
  assert.equal(hashes.at({ file, line: 2, column: 7 }), base);
  assert.equal(hashes.at({ file, line: 99, column: 1 }), '');
});
