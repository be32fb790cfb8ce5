/** What the views share with the kernel: traits of the widgets in Python, and messages. */

/** The part of anywidget's model that listens to events. */
export interface EventSource {
  on(event: string, handler: EventHandler): void;
  off(event: string, handler: EventHandler): void;
}

/** A handler of `change:…` gets nothing that is used; a handler of `msg:custom` gets the content of the message. */
export type EventHandler = (content: Message) => void;

/** A message of the kernel. */
export type Message =
  | { readonly answer: 'name'; readonly index: number; readonly text: string }
  | {
      readonly answer: 'pair';
      readonly map: number;
      readonly row: number;
      readonly column: number;
      readonly text: string;
    }
  | { readonly answer: 'csv'; readonly text: string; readonly next: number; readonly name: string };

/** The part of anywidget's model that the views use. */
export interface Model<Traits> extends EventSource {
  get<K extends keyof Traits>(trait: K): Traits[K];
  set<K extends keyof Traits>(trait: K, value: Traits[K]): void;
  save_changes(): void;
  send(content: Readonly<Record<string, string | number>>): void;
}

/** The argument of `render`. */
export interface View<Traits> {
  readonly model: Model<Traits>;
  readonly el: HTMLElement;
}

/** Stops what a view has started. */
export type Cleanup = () => void;

export interface CodeTraits {
  code: string;
  note: string;
}

export interface PictureTraits {
  png: DataView<ArrayBuffer> | null;
  alt: string;
  width: number;
  empty: string;
}

export interface StatusTraits {
  state: 'ready' | 'running' | 'stopping' | 'stopped' | 'done' | 'failed';
  message: string;
  notes: readonly string[];
  details: string;
  step: string;
  done: number;
  total: number;
  so_far: string;
  mark: string;
  tooltips: Readonly<Record<string, string>>;
  dark: boolean;
}
