/** Bounded concurrency. */
import pLimit from 'p-limit';

/**
 * `work` of every item, at most `width` at a time; results in item order. After a failure nothing more is started, what is
 * running is awaited (so no work outlives the call), and the first error is thrown.
 */
export async function mapPool<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const limit = pLimit(width);
  const results = new Array<R>(items.length);
  const failures: unknown[] = [];
  const attempt = async (item: T, index: number): Promise<void> => {
    if (failures.length > 0) return;
    try {
      results[index] = await work(item, index);
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(items.map((item, index) => limit(attempt, item, index)));
  if (failures.length > 0) throw failures[0];
  return results;
}
