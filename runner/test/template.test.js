// The service and the runner have one rule for addresses, and one list of cases.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { template } = require('../dist/template');

test('an address without what differs from run to run', () => {
  const cases = Object.entries(require('../../internal/evidence/testdata/templates.json'));
  assert.ok(cases.length > 20);
  for (const [address, expected] of cases)
    assert.equal(template(address) ?? '', expected, address);
});
