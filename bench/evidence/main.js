// What recording evidence costs a suite: the same tests with it and without, one after the other in each round, so that
// both meet the same machine. Prints the median ratio of Playwright's own durations, of a suite that computes and one that waits.
//   node bench/evidence/main.js [rounds]
const http = require('http');
const { makeRepository, newest, run } = require('../../runner/test/attempt');

const rounds = Number(process.argv[2] ?? 5);
const rows = Array.from({ length: 300 }, (_, i) => `<tr><td>${i}</td><td>Item ${i}</td><td><button data-testid="buy-${i}">Buy</button></td></tr>`).join('');
const page = `<title>Shop</title><h1>Shop</h1><p data-testid="sum">0</p><table>${rows}</table><script>
let sum = 0;
document.querySelectorAll('button').forEach(button => button.addEventListener('click', async () => { await fetch('/buy', { method: 'POST' }); document.querySelector('[data-testid=sum]').textContent = ++sum; }));
</script>`;
const spec = `import { test, expect } from '@playwright/test';
for (let n = 0; n < 4; n++) test('buys ' + n, async ({ page }) => {
  await page.goto(process.env.SHOP!);
  for (let i = 1; i <= 6; i++) {
    await page.getByTestId('buy-' + i * 9).click();
    await expect(page.getByTestId('sum')).toHaveText(String(i));
  }
});`;

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1];

async function measure(delayMs) {
  const server = http.createServer((request, response) => setTimeout(() => {
    response.setHeader('content-type', 'text/html');
    response.end(request.method === 'POST' ? '' : page);
  }, delayMs));
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const repository = makeRepository({ 'a.spec.ts': spec }, newest);
  const once = async record => {
    const attempt = await run(repository, { all: true, record }, {}, { SHOP: `http://127.0.0.1:${server.address().port}/` });
    const evidence = attempt.all('testEnd').flatMap(end => end.attachments).filter(a => a.name === 'evidence').length;
    const { status, durationMs } = await attempt.wait('end');
    if (status !== 'passed' || evidence !== (record ? 4 : 0))
      throw new Error(`the suite ${status} with ${evidence} traces\n${attempt.log}`);
    return durationMs;
  };
  await once(false);
  const pairs = [];
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0;
    const [a, b] = [await once(first), await once(!first)];
    pairs.push(first ? { recorded: a, plain: b } : { recorded: b, plain: a });
  }
  server.close();
  const ratios = pairs.map(({ recorded, plain }) => recorded / plain);
  return { ratio: +median(ratios).toFixed(3), least: +Math.min(...ratios).toFixed(3), most: +Math.max(...ratios).toFixed(3), plainMs: median(pairs.map(pair => pair.plain)) };
}

(async () => {
  const computes = await measure(0), waits = await measure(250);
  console.log(`RESULT ${JSON.stringify({ playwright: newest, rounds, computes, waits })}`);
  process.exit(0);
})();
