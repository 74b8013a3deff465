// jobs.mjs - commands of dibs in a worker: the page stays alive, and a command can be cancelled by ending its worker.
import { byId } from './dom.mjs';

export class Jobs {
  constructor(module) {
    this.module = module;
    this.address = URL.createObjectURL(new Blob([byId('worker').textContent.replaceAll('<\\/', '</')], { type: 'text/javascript' }));
    this.waiting = new Map();
    this.next = 0;
  }

  start() {
    this.worker = new Worker(this.address);
    this.worker.onmessage = ({ data }) => {
      const job = this.waiting.get(data.id);
      if (data.progress) {
        job?.progress?.(data.progress);
        return;
      }
      this.waiting.delete(data.id);
      job?.resolve(data);
    };
    this.worker.onerror = (event) => this.end(`dibs: the worker failed: ${event.message}`);
    this.worker.postMessage(this.module);
  }

  // A promise of {status, output, errors}. Status null: it was cancelled.
  run(words, progress) {
    if (!this.worker) this.start();
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, { resolve, progress });
      this.worker.postMessage({ id, words });
    });
  }

  end(errors = '') {
    this.worker?.terminate();
    this.worker = null;
    for (const { resolve } of this.waiting.values()) resolve({ status: null, output: '', errors });
    this.waiting.clear();
  }
}
