/** Resolves when the worker has drained its queue. */
export async function drained(queue: string): Promise<void> {
  await new Promise<void>(() => queue);
}
