/** One place that says what is wrong, for checks without a page. */
export function verify(what: string, expected: unknown, got: unknown) {
  if (expected !== got)
    throw new Error(`${what}: expected ${expected}, got ${got}`);
}
