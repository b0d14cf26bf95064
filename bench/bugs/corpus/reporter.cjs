// Writes one JSON line for each failed attempt, as a reporter sees it (ANSI stripped).
const fs = require('fs');
const path = require('path');
const strip = s => (s || '').replace(/\x1b\[[0-9;]*[A-Za-z]/g, '');
class R {
  onBegin(config) { this.root = process.cwd(); }
  onTestEnd(test, result) {
    if (result.status === 'skipped' || result.status === 'passed') {
      if (result.status === 'passed') fs.appendFileSync(process.env.CORPUS_OUT, JSON.stringify({ passed: true, title: test.title, testFile: path.relative(this.root, test.location.file), line: test.location.line }) + '\n');
      return;
    }
    fs.appendFileSync(process.env.CORPUS_OUT, JSON.stringify({
      title: test.title, status: result.status, retry: result.retry,
      testFile: path.relative(this.root, test.location.file), line: test.location.line,
      errors: result.errors.map(e => ({ message: strip(e.message !== undefined ? e.message : String(e.value)), stack: strip(e.stack), snippet: strip(e.snippet), file: e.location && path.relative(this.root, e.location.file), eline: e.location && e.location.line })),
    }) + '\n');
  }
  printsToStdio() { return false; }
}
module.exports = R;
