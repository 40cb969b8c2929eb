#!/usr/bin/env node
// The entry of the built program. It has no static import and only syntax that old versions of Node.js parse, so that
// they print one line instead of a stack. Chunks are built for Node.js 22; its SQLite needs no flag from 22.13 on.
const needed = [22, 13];
const running = process.versions.node.split('.').map(Number);
if (running[0] > needed[0] || (running[0] === needed[0] && running[1] >= needed[1])) {
  import('./cli-main.js').then((program) => program.runProcess());
} else {
  console.error(`svc: Svc needs Node.js ${needed.join('.')} or newer, and runs with ${process.version}.`);
  process.exitCode = 1;
}
