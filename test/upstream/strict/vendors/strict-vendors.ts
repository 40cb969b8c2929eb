import * as chat from './chat-vendors.ts';
import { ANTHROPIC, RESPONSES } from './signed-vendors.ts';
import type { StrictVendor } from './vendor-refusal.ts';

/** The strict vendors by the id of their provider in tests. */
export const STRICT_VENDORS: Readonly<Record<string, StrictVendor>> = {
  anthropic: ANTHROPIC,
  responses: RESPONSES,
  openai: chat.OPENAI_CHAT,
  azure: chat.AZURE,
  mistral: chat.MISTRAL,
  deepseek: chat.DEEPSEEK,
  moonshotai: chat.MOONSHOT,
  zai: chat.ZAI,
  groq: chat.GROQ,
  xai: chat.XAI,
  google: chat.GEMINI,
  openrouter: chat.OPENROUTER,
  llamacpp: chat.LLAMACPP,
  lmstudio: chat.LMSTUDIO,
  ollama: chat.OLLAMA,
  vllm: chat.VLLM,
};

/** The frame of an answer of Gemini, which signs the first call of each answer. */
export function signCalls(frame: string, seal: string): string {
  const extra = JSON.stringify({ google: { thought_signature: seal } });
  return frame.replace(/("tool_calls":\[\{(?:"index":0,)?)("id")/, `$1"extra_content":${extra},$2`);
}
