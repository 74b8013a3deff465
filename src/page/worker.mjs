// worker.mjs - runs one command of dibs after the other, away from the page. The first message is the compiled module; each
// further one is {id, words}. Answers: {id, progress} now and then, and {id, status, output, errors} at the end.
import { runCommand } from './module.mjs';

let compiled;

self.onmessage = ({ data }) => {
  if (data instanceof WebAssembly.Module) {
    compiled = data;
    return;
  }
  const result = runCommand(compiled, data.words, (progress) => self.postMessage({ id: data.id, progress }));
  self.postMessage({ id: data.id, ...result });
};
