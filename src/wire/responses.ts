export { chatCompletions as responses } from './chat-completions.ts';
