// Matches a pattern as `playwright test --grep` does, but under a limit of time: the pattern comes over an API, and a
// catastrophic one must not hold a worker for hours.
import * as vm from 'vm';

export class GrepProblem extends Error {
  constructor(readonly code: 'grep-invalid' | 'grep-timeout', message: string) {
    super(message);
  }
}

/** Playwright's own reading of a pattern: `/source/flags`, or anything else as a source without regard to case. */
export function parsePattern(pattern: string): RegExp {
  const match = /^\/(.*)\/([gi]*)$/.exec(pattern);
  try {
    return match ? new RegExp(match[1], match[2]) : new RegExp(pattern, 'gi');
  } catch (error) {
    throw new GrepProblem('grep-invalid', `the pattern is no regular expression: ${(error as Error).message}`);
  }
}

/** For each list of texts: does the pattern match one of them? */
export function matchAll(pattern: string, texts: string[][], limitMs: number): boolean[] {
  const literals = literalAlternatives(pattern);
  if (literals)
    return texts.map(list => list.some(text => literals.matches(text)));
  const re = parsePattern(pattern);
  const result: boolean[] = [];
  // With the g flag a RegExp remembers where it stopped: lastIndex goes back before each text.
  const script = 'for (const list of texts) result.push(list.some(text => (re.lastIndex = 0, re.test(text))))';
  try {
    vm.runInNewContext(script, { re, texts, result }, { timeout: Math.max(1, limitMs) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new GrepProblem('grep-timeout', `the pattern took longer than ${limitMs} ms to match against ${texts.length} tests: simplify it`);
    throw new GrepProblem('grep-invalid', String((error as Error).message ?? error));
  }
  return result;
}

// Thousands of IDs joined by `|` are the pattern that TAS itself makes. A RegExp tries each alternative at each place
// of each text; a set of the words is asked once for each place and length.
function literalAlternatives(pattern: string): { matches(text: string): boolean } | undefined {
  if (!/^[\w-]+(?:\|[\w-]+){15,}$/.test(pattern))
    return undefined;
  const words = new Set(pattern.toLowerCase().split('|'));
  const lengths = [...new Set([...words].map(word => word.length))];
  if (lengths.length > 8)
    return undefined;
  return {
    matches(text) {
      const lower = text.toLowerCase();
      if (words.has(lower))
        return true;
      return lengths.some(length => {
        for (let i = 0; i + length <= lower.length; i++) {
          if (words.has(lower.substr(i, length)))
            return true;
        }
        return false;
      });
    },
  };
}
