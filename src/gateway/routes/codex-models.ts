import type { Model } from '../../catalog/model.ts';
import { effortLevels } from '../../provider/profile/fit-reasoning.ts';
import { rulesOf } from '../../provider/profile/profiles.ts';

/** Levels that each release of Codex can read; older ones refuse the whole list for another one. */
const LEVELS: Readonly<Record<string, string>> = {
  none: 'No reasoning',
  minimal: 'The least reasoning',
  low: 'Fast answers with little reasoning',
  medium: 'Reasoning for everyday tasks',
  high: 'More reasoning for complex tasks',
  xhigh: 'The most reasoning',
};

/** Codex sends these as the system prompt of a listed model, instead of its own for unknown models. */
const INSTRUCTIONS = `You are a coding agent in Codex, a program in the user's terminal. You and the user share one workspace.

- Work until the request is complete. Read the code before you change it, and follow its conventions and each AGENTS.md that applies.
- Use the tools to read, search, edit and run. Prefer \`rg\` for searches. If there is an \`apply_patch\` tool, edit with it.
- Make the smallest change that solves the problem at its cause. Leave unrelated code as it is, and never undo changes that you did not make.
- Run the tests or the build that the change touches, and report honestly what failed or was not run.
- Do not commit, push or delete unless the user requests it.
- Before a group of commands, state in one short sentence what you are about to do. Keep a plan up to date with the plan tool if the task has several steps.
- Answer in plain, short Markdown. Name files as \`path:line\`. End with what you changed and what remains.`;

/**
 * The list of models for Codex, which sends `client_version` (openai/codex, `codex-rs/protocol/src/openai_models.rs`,
 * `ModelsResponse`). Without the limits it would assume its own, and would compact a conversation too late.
 */
export function codexList(models: readonly Model[]): unknown {
  return { models: models.map(codexModel) };
}

function codexModel(model: Model, index: number) {
  const levels = model.reasoning ? (effortLevels(model, rulesOf(model)) ?? []).filter((level) => level in LEVELS) : [];
  const { context, input } = model.limit;
  const window = input || context || null;
  return {
    slug: model.ref,
    display_name: model.name,
    description: null,
    default_reasoning_level: levels.includes('medium') ? 'medium' : (levels.at(-1) ?? null),
    supported_reasoning_levels: levels.map((effort) => ({ effort, description: LEVELS[effort] })),
    shell_type: 'default',
    visibility: model.toolCall ? 'list' : 'hide',
    supported_in_api: true,
    priority: index + 1,
    upgrade: null,
    base_instructions: INSTRUCTIONS,
    supports_reasoning_summaries: model.reasoning,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    // Codex's own for models that it does not know.
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: true,
    context_window: window,
    max_context_window: window,
    experimental_supported_tools: [],
    input_modalities: ['text', ...(model.modalities.input.includes('image') ? ['image'] : [])],
  };
}
