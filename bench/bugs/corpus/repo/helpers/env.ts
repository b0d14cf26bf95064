/** Reads a setting that has to be there. */
export function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`Environment variable ${name} is not set`);
  return value;
}
