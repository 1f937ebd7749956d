import type { ReactNode, SVGProps } from 'react';

/** Icon data as in lucide-react's modules. */
interface IconData {
  name: string;
  node: [tag: string, attributes: Record<string, string>][];
}

interface CreatedIconProps extends SVGProps<SVGSVGElement> {
  size?: number | string;
}

declare function createIcon(icon: IconData): (props: CreatedIconProps) => ReactNode;

export { createIcon as default };
