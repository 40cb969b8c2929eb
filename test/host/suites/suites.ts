import './activation.suite.ts';
import './chat.suite.ts';
import './configuration.suite.ts';
import './gateway.suite.ts';
