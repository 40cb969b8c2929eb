import './activation.suite.ts';
import './chat.suite.ts';
import './chat-tools.suite.ts';
import './completion.suite.ts';
import './completion-answers.suite.ts';
import './completion-settings.suite.ts';
import './configuration.suite.ts';
import './gateway.suite.ts';
