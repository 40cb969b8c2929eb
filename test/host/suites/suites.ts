import './activation.suite.ts';
