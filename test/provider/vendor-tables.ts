import { PROFILES } from '../../src/provider/profile/profiles.ts';
import type { Row } from '../../src/provider/profile/rules.ts';

/** The tables of docs/formats.md, one for each profile. */
export function vendorTables(): string {
  return PROFILES.map(
    ({ name, rows }) => `### ${name}\n\n| rule | source |\n|---|---|\n${rows.map(line).join('\n')}`,
  ).join('\n\n');
}

function line({ says, source }: Row): string {
  return `| ${says.replaceAll('|', '\\|')} | ${source.replaceAll('|', '\\|')} |`;
}
