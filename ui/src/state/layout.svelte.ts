// Which parts of the window are shown: sidebar, details, or one tab over everything. Not truth, only layout.
//
// In a wide window a part is there unless it was hidden; in a narrow one it is a drawer that is there only while open.

export type Tab = 'plan' | 'changes' | 'jobs' | 'record';
/** How differences stand: before and after beside one another, or in one column. */
export type DiffView = 'sides' | 'unified';
type Part = 'auto' | 'hidden' | 'open';

/** Something that says how it is now, such as a media query. */
export interface Now {
  readonly current: boolean;
}

export class Layout {
  tab: Tab = $state('plan');
  diffView: DiffView = $state('sides');
  /** Does the chosen tab take the place of conversation and details? */
  grown = $state(false);
  #sidebar: Part = $state('auto');
  #inspector: Part = $state('auto');
  #narrow: Now;
  #mid: Now;
  sidebarShown = $derived.by(() => isShown(this.#sidebar, this.#narrow.current));
  inspectorShown = $derived.by(() => isShown(this.#inspector, this.#mid.current));
  sidebarDrawer = $derived.by(() => this.#narrow.current && this.#sidebar === 'open');
  inspectorDrawer = $derived.by(() => this.#mid.current && this.#inspector === 'open' && !this.grown);

  /** `narrow`: the sidebar is a drawer. `mid`: the details are a drawer. */
  constructor(narrow: Now, mid: Now) {
    this.#narrow = narrow;
    this.#mid = mid;
  }

  toggleSidebar(): void {
    this.#sidebar = toggled(this.#sidebar, this.#narrow.current);
    if (this.sidebarDrawer) this.#inspector = closed(this.#inspector);
  }

  toggleInspector(): void {
    this.#inspector = toggled(this.#inspector, this.#mid.current);
    if (this.inspectorDrawer) this.#sidebar = closed(this.#sidebar);
  }

  /** Shows a tab; on a narrow window its drawer opens. */
  showTab(tab: Tab): void {
    this.tab = tab;
    if (!this.grown && !this.inspectorShown) this.toggleInspector();
  }

  grow(on: boolean): void {
    this.grown = on;
    if (on) this.closeDrawers();
  }

  /** Closes what lies over the page. True when something did. */
  closeDrawers(): boolean {
    const any = this.sidebarDrawer || this.inspectorDrawer;
    this.#sidebar = closed(this.#sidebar);
    this.#inspector = closed(this.#inspector);
    return any;
  }
}

function isShown(part: Part, drawer: boolean): boolean {
  return drawer ? part === 'open' : part !== 'hidden';
}

function toggled(part: Part, drawer: boolean): Part {
  if (drawer) return part === 'open' ? 'auto' : 'open';
  return part === 'hidden' ? 'auto' : 'hidden';
}

function closed(part: Part): Part {
  return part === 'open' ? 'auto' : part;
}
