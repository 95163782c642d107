#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for the program says so and exits 2: 1 would call a receipt false.
try {
  if (!process.features.typescript)
    throw new Error(`it needs Node 24, but this is ${process.version} (try npx)`);
  await import("../src/main.ts");
} catch (error) {
  process.stderr.write(
    `attestore-verify cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 2;
}
