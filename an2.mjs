import { build } from 'esbuild';
const requireForCommonJs = "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);";
const r = await build({bundle:true,minify:true,legalComments:'none',target:'node22',entryPoints:{ extension: 'src/extension/activate.ts', cli: 'src/cli/main.ts' },outdir:'/tmp/an',platform:'node',format:'esm',splitting:true,chunkNames:'chunks/[name]-[hash]',external:['vscode'],plugins:[(await import("./scripts/unused-parts.ts")).withoutUnusedParts()],mainFields:['module','main'],banner:{js:requireForCommonJs},metafile:true,logLevel:'error'});
const tot={};
for (const [o,{inputs,bytes}] of Object.entries(r.metafile.outputs)){ const by={}; for(const [i,{bytesInOutput}] of Object.entries(inputs)){ const k=i.includes("@redis")?i.split("dist/lib/")[1]?.split("/").slice(0,2).join("/"):"x"; by[k]=(by[k]??0)+bytesInOutput; tot[k]=(tot[k]??0)+bytesInOutput;} if(bytes>40000) console.log(o,bytes,JSON.stringify(Object.fromEntries(Object.entries(by).sort((a,b)=>b[1]-a[1]).slice(0,8))));}
console.log(Object.entries(tot).sort((a,b)=>b[1]-a[1]).slice(0,30));
