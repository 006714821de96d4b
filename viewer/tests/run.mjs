// Runs tests written in TypeScript with the runner of Node: `node tests/run.mjs FILE...`; Vite translates them.

import { createServer } from "vite";

const server = await createServer({ appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true }, server: { middlewareMode: true, watch: null, hmr: false, ws: false } });
for (const file of process.argv.slice(2)) await server.ssrLoadModule(`/${file}`);
// What has been loaded no longer needs the server, which would keep the program alive.
process.once("beforeExit", () => server.close());
