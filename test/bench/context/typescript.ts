import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installCodeServer } from '../../host/code-server.ts';

/** The part of TypeScript's own API that the bench uses. The package of the project has none. */
export interface TypeScript {
  readonly SyntaxKind: { readonly Block: number; readonly Identifier: number };
  readonly SymbolFlags: { readonly Alias: number };
  createLanguageService(host: object): LanguageService;
  getDefaultLibFilePath(options: object): string;
  readonly ScriptSnapshot: { fromString(text: string): unknown };
  forEachChild(node: TsNode, each: (child: TsNode) => void): void;
  readonly sys: {
    readonly readFile: (path: string) => string | undefined;
    readonly fileExists: (path: string) => boolean;
  };
}

export interface LanguageService {
  getDefinitionAtPosition(file: string, position: number): readonly Definition[] | undefined;
  getTypeDefinitionAtPosition(file: string, position: number): readonly Definition[] | undefined;
  getProgram(): { getSourceFile(file: string): SourceFile | undefined; getTypeChecker(): TypeChecker } | undefined;
}

export interface Definition {
  readonly fileName: string;
  readonly textSpan: { readonly start: number };
}

export interface TsNode {
  readonly kind: number;
  readonly parent: TsNode | undefined;
  readonly body?: TsNode;
  readonly text?: string;
  getStart(): number;
  getEnd(): number;
  getSourceFile(): SourceFile;
}

export interface SourceFile extends TsNode {
  readonly fileName: string;
  readonly text: string;
}

interface TsSymbol {
  readonly flags: number;
  readonly declarations?: readonly TsNode[];
}

interface TypeChecker {
  getSymbolAtLocation(node: TsNode): TsSymbol | undefined;
  getAliasedSymbol(symbol: TsSymbol): TsSymbol;
}

/** TypeScript as VS Code has it: the same code as its language server. */
export function loadTypeScript(): TypeScript {
  installCodeServer();
  const cache = join(
    import.meta.dirname,
    '..',
    '..',
    '..',
    '.cache',
    'code-server-4.139.1',
    'node_modules',
    'code-server',
  );
  return createRequire(import.meta.url)(join(cache, 'lib', 'vscode', 'extensions', 'node_modules', 'typescript'));
}
