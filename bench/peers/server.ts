/** The index of the folder behind our HTTP server: prints its address, runs until its input ends. */
import { openIndex } from '../../src/retriever/index/open.ts';
import { serveSearch } from '../../src/retriever/server/listen.ts';

const before = process.memoryUsage.rss();
const listening = await serveSearch(() => openIndex(process.argv[2]!), { host: '127.0.0.1', port: 0 });
await listening.ready;
console.log(JSON.stringify({ url: listening.url, memory: (process.memoryUsage.rss() - before) / 1e6 }));
process.stdin.resume().on('end', () => listening.close().then(() => process.exit(0)));
