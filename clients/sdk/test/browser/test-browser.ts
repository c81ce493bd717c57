/** The minimal interface to a real browser with a fake microphone. */
export interface TestBrowser {
  visit(url: string): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  /** Evaluates an expression in the page and awaits it there. */
  evaluate<T>(expression: string): Promise<T>;
}
