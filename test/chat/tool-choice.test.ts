import assert from 'node:assert/strict';
import { disabledTools, MAX_TOOLS, offeredTools, toolGroups } from '../../src/chat/tools/tool-choice.ts';
import type { ChatTool } from '../../src/chat/tools/tools.ts';

const tool = (name: string, origin = 'Svc'): ChatTool => ({
  ...{ name, origin, description: '', parameters: {}, changes: false },
  prepare: () => ({ confirmation: false, run: async () => ({ output: '' }) }),
});
const names = (tools: readonly ChatTool[]) => tools.map(({ name }) => name);

describe('tool choice', () => {
  const READ = tool('read_file');
  const SEARCH = tool('search_text');
  const USAGES = tool('usages', 'VS Code');

  it('offeredTools: contains all tools that are not disabled', () => {
    assert.deepEqual(names(offeredTools([READ, SEARCH, USAGES], [])), ['read_file', 'search_text', 'usages']);
    assert.deepEqual(names(offeredTools([READ, SEARCH, USAGES], ['search_text'])), ['read_file', 'usages']);
  });

  it('offeredTools: contains at most as many tools as a request can have, not counting disabled ones', () => {
    const many = Array.from({ length: MAX_TOOLS + 5 }, (_, index) => tool(`t${index}`));
    const offered = names(offeredTools(many, ['t0', 't2']));
    assert.equal(offered.length, MAX_TOOLS);
    assert.deepEqual([offered[0], offered[1], offered.at(-1)], ['t1', 't3', `t${MAX_TOOLS + 1}`]);
  });

  it('toolGroups: groups tools by origin for any order', () => {
    assert.deepEqual(
      toolGroups([READ, USAGES, SEARCH]).map(({ origin, tools }) => [origin, names(tools)]),
      [
        ['Svc', ['read_file', 'search_text']],
        ['VS Code', ['usages']],
      ],
    );
  });

  it('disabledTools: stores disabled tools, so that a new tool is enabled', () => {
    assert.deepEqual(disabledTools([READ, SEARCH, USAGES], new Set(['usages']), []), ['read_file', 'search_text']);
    assert.deepEqual(
      disabledTools([READ, SEARCH, USAGES], new Set(['read_file', 'search_text', 'usages']), ['usages']),
      [],
    );
  });

  it('disabledTools: keeps tools that are currently not available', () => {
    assert.deepEqual(disabledTools([READ], new Set(['read_file']), ['mcp_db_query', 'read_file']), ['mcp_db_query']);
  });
});
