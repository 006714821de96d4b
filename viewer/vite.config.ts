import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file with everything in it, the same bytes every time.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", outDir: "dist", modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1000, reportCompressedSize: false },
});
