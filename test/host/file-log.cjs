// Replaces @vscode/spdlog in the browser host, which has a native part that the tests do not build. Without it, VS Code
// writes no log files, and a failed test could not show the log of the extension.
const { appendFileSync, mkdirSync } = require('node:fs');
const { dirname } = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'critical'];

class Logger {
  #file;
  #level = 2;
  #plain = false;

  constructor(_type, _name, file) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    for (const [level, name] of LEVELS.entries()) {
      this[name] = (message) => {
        if (level < this.#level) return;
        const line = this.#plain ? message : `${new Date().toISOString()} [${name}] ${message}\n`;
        try {
          appendFileSync(this.#file, line);
        } catch {
          // The folder may have been removed with its test.
        }
      };
    }
  }

  getLevel() {
    return this.#level;
  }

  setLevel(level) {
    this.#level = level;
  }

  setPattern() {}

  clearFormatters() {
    this.#plain = true;
  }

  flush() {}

  drop() {}
}

const create = async (name, file) => new Logger('rotating', name, file);

// One by one, so that `import` finds their names.
exports.version = 1;
exports.setLevel = () => undefined;
exports.setFlushOn = () => undefined;
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
