// module.mjs - the WebAssembly module of the laboratory, for a page, a worker or node.
//
// The module expects the system calls of WASI. It gets those that a program without files needs: output, the clock, and
// the end. All others answer "not supported". A command that ends with exit() throws Ended; the instance must not be used
// after that.

export class Ended extends Error {
  constructor(status) {
    super(`the command ended with status ${status}`);
    this.status = status;
  }
}

const OK = 0, BAD_DESCRIPTOR = 8, NOT_SUPPORTED = 52;

export class Laboratory {
  // output: called with each piece of text that the module prints, and the descriptor (1 output, 2 errors).
  constructor(module, output = () => {}) {
    const decoders = [new TextDecoder(), new TextDecoder(), new TextDecoder()];
    const calls = {
      fd_write: (fd, vectors, count, written) => {
        const view = new DataView(this.memory.buffer);
        let total = 0;
        for (let k = 0; k < count; k++) {
          const at = view.getUint32(vectors + 8 * k, true), length = view.getUint32(vectors + 8 * k + 4, true);
          output(decoders[fd].decode(new Uint8Array(this.memory.buffer, at, length), { stream: true }), fd);
          total += length;
        }
        view.setUint32(written, total, true);
        return OK;
      },
      clock_time_get: (clock, precision, at) => {
        const now = BigInt(Math.round(performance.now() * 1e6));
        new DataView(this.memory.buffer).setBigUint64(at, now, true);
        return OK;
      },
      fd_fdstat_get: (fd, at) => {
        if (fd > 2) return BAD_DESCRIPTOR;
        new Uint8Array(this.memory.buffer, at, 24).fill(0); // a stream that is no terminal
        return OK;
      },
      environ_sizes_get: (count, size) => {
        const view = new DataView(this.memory.buffer);
        view.setUint32(count, 0, true);
        view.setUint32(size, 0, true);
        return OK;
      },
      fd_prestat_get: () => BAD_DESCRIPTOR,
      fd_close: () => OK,
      environ_get: () => OK,
      proc_exit: (status) => { throw new Ended(status); },
    };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = calls[name] ?? (() => NOT_SUPPORTED);
    }
    this.exports = new WebAssembly.Instance(module, imports).exports;
    this.memory = this.exports.memory;
    this.exports._initialize();
  }

  // Calls use with the address and the length of a text in the module's memory. A zero byte follows the text.
  withText(text, use) {
    const bytes = new TextEncoder().encode(text);
    const at = this.exports.page_alloc(bytes.length + 1);
    const memory = new Uint8Array(this.memory.buffer, at, bytes.length + 1);
    memory.set(bytes);
    memory[bytes.length] = 0;
    try {
      return use(at, bytes.length);
    } finally {
      this.exports.page_free(at);
    }
  }

  answerText() {
    const at = this.exports.page_answer(), length = this.exports.page_answer_len();
    return new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, length));
  }

  // The answer to the last call about the stage. {line, error} where something was wrong.
  answer() {
    return JSON.parse(this.answerText());
  }

  open(path, text) {
    this.withText(path, (pathAt) => this.withText(text, (at) => this.exports.page_open(pathAt, at)));
    return this.answer();
  }

  // What the members have recorded of a lock, as a scenario: {text} or {error}. traces: [member, trace] for each, '' if it was not heard.
  replay(lock, traces) {
    this.withText([lock, ...traces.flat()].map((word) => word + '\0').join(''), (at, length) => this.exports.page_replay(at, length));
    return this.answer();
  }

  call(name, ...numbers) {
    this.exports[name](...numbers);
    return this.answer();
  }

  // The moves so far as a scenario.
  scenario() {
    this.exports.page_scenario();
    return this.answerText();
  }

  // Runs a command of dibs and returns its exit status.
  command(words) {
    return this.withText(words.map((word) => word + '\0').join(''), (at, length) => this.exports.page_command(at, length));
  }
}

// Runs a command in an instance of its own. Returns {status, output, errors}. progress is called with each line of
// standard error that begins with a brace: the checker tells there how far it is.
export function runCommand(module, words, progress = () => {}) {
  let output = '', errors = '', line = '', status;
  const lab = new Laboratory(module, (text, fd) => {
    if (fd === 1) {
      output += text;
      return;
    }
    const lines = (line + text).split('\n');
    line = lines.pop();
    for (const whole of lines) {
      if (whole.startsWith('{')) progress(JSON.parse(whole));
      else errors += whole + '\n';
    }
  });
  try {
    status = lab.command(words);
  } catch (error) {
    if (error instanceof Ended) status = error.status;
    else if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError)
      return { status: 2, output: '', errors: `dibs: the browser gave the module no more memory or time (${error.message})` };
    else throw error;
  }
  return { status, output, errors: errors.trim() };
}
