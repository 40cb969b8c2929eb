// npm run test:day: a whole day of work in a real VS Code, in two looks. Pictures of all acts are in out/artifacts/day.
process.env.SVC_DAY = 'whole';
process.argv.push('test/e2e/day');
await import('./run.ts');
