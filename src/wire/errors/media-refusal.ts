import { formatMessage, type SvcError } from './svc-error.ts';

/**
 * Whether an upstream refused a request because its model takes no images, documents or recordings.
 *
 * Sources: vLLM "… is not a multimodal model", "At most 0 image(s) may be provided in one prompt"; llama.cpp "image input
 * is not supported - hint: if this is unexpected, you may need to provide the mmproj", with status 500; Ollama "this
 * model does not support image input" (ollama/ollama#17301), "this model is missing data required for image input"; LM
 * Studio "Model does not support images. Please use a model that does." (lmstudio-bug-tracker#362); OpenAI "Invalid
 * content type. image_url is only supported by certain models." (zou-group/textgrad#210); DeepSeek "unknown variant
 * `image_url`, expected `text`" (next-ai-draw-io#55); OpenRouter "No endpoints found that support image input", with
 * status 404 (github/app#2163); Mistral "Image input is not enabled for this model"; servers that take text only
 * "Unsupported content part type for text-only server: image_url", "messages.0.content must be a string", "Input should
 * be 'text'".
 */
export function refusesMedia(error: SvcError): boolean {
  const { upstreamStatus } = error;
  if (upstreamStatus === undefined || upstreamStatus === 401 || upstreamStatus === 429) return false;
  const text = formatMessage(error.text).slice(0, MAX_TEXT);
  return WORDS.some((words) => words.test(text));
}

const MAX_TEXT = 4_000;

const MEDIA = '(?:images?|vision|pdfs?|documents?|files?|audio|multi-?modal|image_url|input_image|input_file)';

const WORDS: readonly RegExp[] = [
  /not a multi-?modal model/i,
  /at most 0 (?:image|audio|file|video)/i,
  new RegExp(`${MEDIA}[ /\\w]{0,40}\\b(?:is|are)(?: not|n[’']t) (?:supported|enabled|allowed)`, 'i'),
  new RegExp(`(?:does|do)(?: not|n[’']t) (?:support|accept|take)[ \\w]{0,20}\\b${MEDIA}`, 'i'),
  new RegExp(`missing data required for ${MEDIA} input`, 'i'),
  /\b(?:image_url|input_image|input_file)\b.{0,60}only supported by certain models/i,
  /unknown variant `?(?:image_url|image|file|document|input_audio|input_image)\b/i,
  new RegExp(`no endpoints found that support ${MEDIA}`, 'i'),
  new RegExp(`unsupported content (?:part )?type\\b.{0,60}${MEDIA}`, 'i'),
  /content[^.]{0,60} (?:must|should) be a (?:valid )?string/i,
  /input should be ['"`]text['"`]/i,
];
