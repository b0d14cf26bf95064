// Reads and writes reports: Playwright's blobs and its HTML.
const { execFileSync } = require('child_process');
const fs = require('fs');
const { Attempt } = require('./attempt');
const { Zip } = require('../dist/zip.js');

function python(script, args, input) {
  return String(execFileSync('python3', ['-c', script, ...args], { input, maxBuffer: 1 << 28 }));
}

/** The numbers of a report and its tests, as `file > title path` → one entry for each time it is there. */
function readHtml(attempt) {
  // Its data is a zip in a data URL, in the page or beside it.
  const all = JSON.parse(python(`import sys,re,glob,base64,io,zipfile,json
for f in glob.glob(sys.argv[1] + '/**', recursive=True):
  if not re.search(r'\\.(html|js)$', f): continue
  m = re.search(r'data:application/zip;base64,([A-Za-z0-9+/=]+)', open(f, errors='ignore').read())
  if m:
    z = zipfile.ZipFile(io.BytesIO(base64.b64decode(m.group(1)))); print(json.dumps({n: json.loads(z.read(n)) for n in z.namelist()})); break`, [attempt.report('html')]));
  const { 'report.json': report, ...files } = all;
  const tests = new Map();
  for (const file of Object.values(files)) {
    for (const test of file.tests) {
      const name = [file.fileName, ...test.path, test.title].join(' > ');
      tests.set(name, [...tests.get(name) ?? [], test]);
    }
  }
  return { ...report, stats: report.stats, tests };
}

function eventsOf(blob) {
  const text = python('import sys,zipfile; sys.stdout.write(zipfile.ZipFile(sys.argv[1]).read("report.jsonl").decode())', [blob]);
  return text.trim().split('\n').map(line => JSON.parse(line));
}

/** A zip of name → text; `report.jsonl` may be a list of lines or of events. */
function writeBlob(file, entries) {
  const texts = Object.entries(entries).map(([name, text]) => [name, Array.isArray(text) ? text.map(line => typeof line === 'string' ? line : JSON.stringify(line)).join('\n') + '\n' : text]);
  python(`import sys,json,zipfile
z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)
for name, text in json.load(sys.stdin): z.writestr(name, text)
z.close()`, [file], JSON.stringify(texts));
  return file;
}

/** A copy of a blob in which `change` was done to the bytes of one entry: it gets them all, and where the entry and its record in the directory begin. */
async function damage(blob, copy, isIt, change) {
  const zip = await Zip.open(blob);
  const entry = zip.entries.find(isIt);
  await zip.close();
  const bytes = fs.readFileSync(blob);
  change(bytes, entry.offset, bytes.indexOf(entry.record, zip.directoryAt));
  fs.writeFileSync(copy, bytes);
  return copy;
}

async function merge(dir, blobs, { results, env, ...more } = {}) {
  const attempt = new Attempt(dir, { merge: { blobs, results, ...more } }, env);
  await attempt.wait('bye');
  attempt.code = await attempt.exit;
  return attempt;
}

module.exports = { damage, eventsOf, merge, readHtml, writeBlob };
