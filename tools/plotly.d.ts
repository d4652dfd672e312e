// What the scripts of report.html use of Plotly.

interface Axis {
  title?: string;
  [option: string]: unknown;
}

interface PlotLayout {
  xaxis: object;
  yaxis: object;
  [option: string]: unknown;
}

interface Drawing {
  traces: object[];
  layout: PlotLayout;
}

interface PlotPoint {
  x: number;
  pointNumber: number[];
}

interface PlotNode extends HTMLElement {
  on(event: "plotly_click", listener: (event: { points: PlotPoint[] }) => void): void;
}

interface Window {
  Plotly: {
    react(node: PlotNode, traces: object[], layout: PlotLayout, config: object): Promise<void>;
    purge(node: PlotNode): void;
  };
}
