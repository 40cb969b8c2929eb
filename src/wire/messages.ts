export { chatCompletions as messages } from './chat-completions.ts';
