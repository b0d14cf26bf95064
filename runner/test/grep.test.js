// Patterns: Playwright's reading of them, and the two that must not take for ever.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { randomUUID } = require('crypto');
const { matchAll, parsePattern } = require('../dist/grep');

test('a pattern is read as Playwright reads it', () => {
  assert.equal(String(parsePattern('a b')), '/a b/gi');
  assert.equal(String(parsePattern('/a b/')), '/a b/');
  assert.equal(String(parsePattern('/a/gi')), '/a/gi');
  assert.equal(String(parsePattern('/a/s')), '/\\/a\\/s/gi');
  assert.throws(() => parsePattern('[a'), { code: 'grep-invalid' });
});

test('the g flag does not skip every second test', () => {
  assert.deepEqual(matchAll('pays', Array(4).fill(['he pays']), 1000), [true, true, true, true]);
});

test('a catastrophic pattern ends in time', () => {
  assert.throws(() => matchAll('(a+)+$', [['a'.repeat(50) + '!']], 200), { code: 'grep-timeout' });
});

test('five thousand IDs against ten thousand tests, within the limit', () => {
  const ids = Array.from({ length: 10000 }, () => randomUUID());
  const texts = ids.map((id, index) => [`e2e/cart.spec.ts › guest › buys article ${index} @smoke`, `shop cart.spec.ts guest buys article ${index} @smoke`, id]);
  const wanted = ids.map((_, index) => index % 2 === 0);
  const pattern = ids.filter((_, index) => wanted[index]).join('|');
  assert.deepEqual(matchAll(pattern, texts, 5000), wanted);
  assert.deepEqual(matchAll(pattern.toUpperCase(), texts.slice(0, 10), 5000), wanted.slice(0, 10));
  // The same through the regular expression itself: a group keeps the shortcut away.
  const few = texts.slice(0, 200);
  assert.deepEqual(matchAll(`(${pattern})`, few, 60000), wanted.slice(0, 200));
});

test('joined words also match inside a title', () => {
  const words = Array.from({ length: 20 }, (_, index) => `word${index}`).join('|');
  assert.deepEqual(matchAll(words, [['has WORD7 in it'], ['has none'], ['word19']], 1000), [true, false, true]);
});
