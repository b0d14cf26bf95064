// A trial runs each test so often, never again after a failure, and traces it.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { makeRepository, run, versions } = require('./attempt');

const files = {
  'playwright.config.ts': `export default { retries: 2, projects: [
  { name: 'setup', testMatch: /setup\\.ts/, retries: 1 }, { name: 'shop', dependencies: ['setup'], retries: 3, repeatEach: 2 },
] };`,
  'a.setup.ts': `import { test } from '@playwright/test'; test('log in', () => {});`,
  'a.spec.ts': `import { test, expect } from '@playwright/test';
test('other', () => {});
test.describe('stubborn', () => { test.describe.configure({ retries: 2 }); test('fails', () => { expect(1).toBe(2); }); });`,
};

for (const version of versions) {
  test(`${version}: so many repetitions, no retries, a trace of each`, async () => {
    const attempt = await run(makeRepository(files, version), attempt => ({ include: attempt.tests.filter(test => test.title === 'fails').map(test => test.id) }),
      { trial: { repeat: 3, trace: true } });
    const listed = attempt.tests.map(test => [test.title, test.repeatEachIndex, test.retries].join(' ')).sort();
    assert.deepEqual(listed, ['fails 0 0', 'fails 1 0', 'fails 2 0', 'log in 0 0', 'other 0 0', 'other 1 0', 'other 2 0']);
    const ends = attempt.all('testEnd');
    assert.deepEqual(ends.map(end => [end.status, end.retry, end.willRetry].join(' ')), ['passed 0 false', 'failed 0 false', 'failed 0 false', 'failed 0 false'], 'set-up runs once');
    assert.deepEqual(ends.slice(1).map(end => end.id), attempt.tests.filter(test => test.title === 'fails').map(test => test.id));
    ends.forEach(end => assert.ok(end.attachments.some(({ name, path }) => name === 'trace' && /trace\.zip$/.test(path))));
  });

  test(`${version}: one repetition of a trial can be chosen`, async () => {
    const attempt = await run(makeRepository(files, version), attempt => ({ include: [attempt.tests.find(test => test.title === 'other' && test.repeatEachIndex === 1).id] }),
      { trial: { repeat: 2 } });
    const other = attempt.tests.find(test => test.title === 'other' && test.repeatEachIndex === 1).id;
    assert.deepEqual((await attempt.wait('selected')).ids, [other]);
    assert.deepEqual(attempt.all('testEnd').at(-1).attachments, []);
    assert.equal(attempt.all('testEnd').length, 2);
  });
}

test('a set-up test is not repeated, not even where it is tried alone', async () => {
  const attempt = await run(makeRepository(files), attempt => ({ include: [attempt.id('setup', 'log in')] }), { trial: { repeat: 2 } });
  assert.deepEqual(attempt.all('testEnd').map(end => end.status), ['passed']);
});
