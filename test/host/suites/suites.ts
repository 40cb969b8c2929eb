import './activation.suite.ts';
import './chat.suite.ts';
import './configuration.suite.ts';
