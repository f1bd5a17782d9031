import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** One server for all files, which run one after the other: it does one thing at a time. */
export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '../..'),
    include: ['test/skyrl/*.suite.ts'],
    globalSetup: 'test/skyrl/setup.ts',
    testTimeout: 1_800_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
