import './activation.suite.ts';
import './configuration.suite.ts';
