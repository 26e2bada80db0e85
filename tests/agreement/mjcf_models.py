"""Small MJCF models, one for each thing that MJCF can say of a tree of rigid bodies."""

from __future__ import annotations

TETRAHEDRON = '<asset><mesh name="rock" vertex="0 0 0  .1 0 0  0 .2 0  0 0 .3"/></asset>'


def world(content: str, before: str = '<compiler angle="radian"/>', after: str = "") -> str:
    """A model with this in its world."""
    return f'<mujoco model="small">{before}<worldbody>{content}</worldbody>{after}</mujoco>'


MODELS = {
    "degrees, euler sequence, default classes": """
        <mujoco model="classes">
          <compiler angle="degree" eulerseq="zyX"/>
          <default>
            <joint damping="0.3" armature="0.02" range="-90 45"/>
            <default class="leg"><joint axis="0 1 0" damping="0.7"/><geom type="capsule" size="0.05"/></default>
          </default>
          <worldbody>
            <body name="hip" pos="0.1 0.2 0.9" euler="20 -30 50" childclass="leg">
              <joint name="swing"/>
              <geom fromto="0 0 0 0.1 0 -0.4"/>
              <body name="shin" pos="0.1 0 -0.4" axisangle="1 2 3 40">
                <joint name="knee" axis="0 3 4" class="main"/>
                <geom fromto="0 0 0 0 0 -0.3" density="500"/>
                <body name="foot" pos="0 0 -0.3" xyaxes="0 1 0 -1 0 0.1">
                  <joint name="ankle"/><geom type="box" size=".1 .05 .02"/>
                </body>
                <body name="spur" pos="0 -0.1 -0.2" zaxis="1 1 1"><joint name="flap"/><geom fromto="0 0 0 0.1 0 0"/></body>
              </body>
            </body>
          </worldbody>
        </mujoco>""",
    "axes away from the body's origin": world("""
        <body name="a" pos="0.3 0 1" quat="0.5 0.5 -0.5 0.7">
          <joint name="door" type="hinge" pos="0.2 -0.3 0.4" axis="0.3 0.5 -2"/>
          <inertial pos="0.1 0.2 -0.1" mass="2" diaginertia="0.03 0.05 0.04" euler="0.3 0.2 0.1"/>
          <body name="b" pos="0 0.5 0">
            <joint name="drawer" type="slide" pos="9 9 9" axis="1 1 0"/>
            <inertial pos="0 0 0.1" mass="1.5" diaginertia="0.01 0.02 0.015"/>
            <body name="c" pos="0.1 0 0">
              <joint name="along" pos="0 0 0.123456789" axis="0 0 1"/>
              <geom type="ellipsoid" size=".1 .2 .3" pos="0.3 0.1 0"/>
              <body name="d"><joint name="nearly" pos="1e-9 3 -4" axis="1e-9 3 -4"/><geom size=".1" pos="0.1 0 0"/></body>
            </body>
          </body>
        </body>"""),
    "several joints in one body": world("""
        <body name="torso" pos="0 0 1">
          <joint name="x" type="slide" axis="1 0 0" pos="0 0 -1"/>
          <joint name="z" type="slide" axis="0 0 1" ref="1.25"/>
          <joint name="turn" axis="0 1 0" pos="0 0 0.2" ref="-0.3"/>
          <joint name="roll" axis="1 0.2 0" pos="0.1 0.2 0.2"/>
          <geom type="capsule" size="0.05 0.2"/>
          <body name="arm" pos="0.1 0 0.2">
            <joint name="up" axis="0 1 0"/>
            <joint name="out" axis="0 0 1" pos="0.05 0 0"/>
            <geom size="0.1" pos="0.2 0 0"/>
          </body>
        </body>"""),
    "balls, away from the origin and in chains": world("""
        <body name="a" pos="0 0.1 1" quat="1 0.2 0 0">
          <joint name="shoulder" type="ball" pos="0.1 -0.2 0.3"/>
          <geom type="box" size=".1 .2 .3" pos="0 0 -0.2"/>
          <body name="b" pos="0 0 -0.4">
            <joint name="elbow" type="ball"/>
            <geom size=".1" pos="0.1 0 0"/>
            <body name="c" pos="0.2 0 0">
              <joint name="finger" type="hinge" axis="1 0 0" ref="0.4"/>
              <joint name="wrist" type="ball" pos="0 0 0.1"/>
              <joint name="push" type="slide" axis="1 2 0" ref="0.2"/>
              <geom type="box" size=".1 .05 .02" pos="0.1 0.1 0"/>
            </body>
            <body name="d" pos="-0.2 0 0">
              <joint name="slip" type="slide" axis="0 1 0"/>
              <joint name="spin" type="ball" pos="0 0.1 0"/>
              <geom type="box" size=".1 .05 .03" pos="0.1 0.1 0"/>
            </body>
          </body>
        </body>"""),
    "free bodies that carry others": world("""
        <body name="drone" pos="1 2 3" euler="0.1 0.2 0.3">
          <freejoint name="root"/>
          <geom type="box" size=".2 .1 .05" pos="0.02 0 0"/>
          <body name="gimbal" pos="0 0 -0.1"><joint name="pan" axis="0 0 1"/><geom size="0.05" pos="0.03 0 0"/></body>
          <body name="pole"><joint name="tilt" type="ball"/><geom type="capsule" fromto="0 0 0 0 0.1 -0.3" size="0.02"/></body>
        </body>
        <body name="stone" pos="5 0 0"><joint type="free" damping="0.4"/><geom size="0.1" pos="0.1 0.2 0.3"/></body>"""),
    "every way to give an inertia": world("""
        <body name="full"><joint axis="1 0 0"/>
          <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.4 0.5 0.05 -0.06 0.07"/>
          <body name="diagonal" pos="1 0 0"><joint axis="0 1 0"/>
            <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.2 0.15" quat="1 2 3 4"/>
            <body name="turned" pos="0 1 0"><joint axis="0 0 1"/>
              <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.2 0.15" zaxis="1 1 1"/>
            </body>
          </body>
        </body>"""),
    "inertia of geoms, some of them left out": world(
        """
        <body name="a"><joint axis="1 0 0"/>
          <geom type="box" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/>
          <geom type="sphere" size=".1" mass="3" pos="1 0 0"/>
          <geom type="cylinder" size=".1 .2" density="300" shellinertia="true"/>
          <geom type="capsule" size=".05" fromto="0 0 0 .3 .2 .1" group="4"/>
          <geom type="ellipsoid" size=".1 .2 .3" mass="0"/>
          <body name="b" pos="0 0 1"><joint axis="0 1 0"/>
            <inertial pos="0 0 9" mass="99" diaginertia="9 9 9"/>
            <geom type="box" size=".1 .2 .3" pos=".1 0 0" group="3"/>
          </body>
        </body>""",
        '<compiler angle="degree" inertiafromgeom="true" inertiagrouprange="0 3"/>',
    ),
    "inertias that the compiler changes": world(
        """
        <body name="a"><joint axis="1 0 0"/><inertial pos="0 0 0.1" mass="0.01" diaginertia="0.1 0.2 0.9"/>
          <body name="b" pos="0 0 1"><joint axis="0 1 0"/><inertial pos="0 0 0.1" mass="1" diaginertia="1e-5 0.2 0.2"/></body>
        </body>""",
        '<compiler balanceinertia="true" boundmass="0.5" boundinertia="0.001"/>',
    ),
    "static bodies, fused": world(
        """
        <body name="a"><joint axis="1 0 0"/><geom size=".1" pos="0.1 0 0"/><geom size=".2" contype="0" conaffinity="0"/>
          <body name="welded" pos="0 0 1" euler="1 2 3"><geom size=".1" pos="0.1 0 0"/><site name="tip" pos="1 2 3"/>
            <body name="b" pos="0 0 1"><joint axis="0 1 0"/><geom size=".1"/></body>
          </body>
        </body>""",
        '<compiler fusestatic="true" discardvisual="true"/>',
    ),
    "static bodies, kept": world("""
        <body name="table" pos="1 0 0"><geom type="box" size=".5 .5 .1"/>
          <body name="a" pos="0 0 0.1"><joint axis="1 0 0"/><geom size=".1" pos="0.1 0 0"/>
            <body name="welded" pos="0 0 1" euler="1 2 3"><inertial pos="0 0 0.3" mass="2" diaginertia="0.1 0.1 0.1"/>
              <body name="twice" pos="0.1 0 0" euler="0.3 0 0"><geom size=".1"/><site name="tip" pos="1 2 3"/></body>
              <body name="b" pos="0 0 1"><joint axis="0 1 0"/><geom size=".1"/></body>
            </body>
          </body>
        </body>"""),
    "free body moved to its centre of mass": world(
        """
        <body name="a" pos="1 2 3" euler="0.1 0.2 0.3"><freejoint/>
          <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.4 0.5 0.05 -0.06 0.07"/><site name="s" pos="0.1 0 0"/>
        </body>""",
        '<compiler angle="radian" alignfree="true"/>',
    ),
    "frames, copies, nameless things": world("""
        <frame pos="0 0 1" euler="0.1 0.2 0.3">
          <body><joint axis="0 1 0"/><geom size=".1" pos="0.1 0 0"/>
            <frame pos="0.1 0 0"><joint axis="0 0 1" pos="0 0.1 0"/><site name="hand" pos="0 0 0.1"/><geom size=".05"/></frame>
            <body pos="0 0 0.3"><joint/><joint axis="1 0 0"/><geom size=".1" pos="0.1 0.1 0"/></body>
          </body>
        </frame>
        <replicate count="3" offset="0 1 0" euler="0 0 0.5">
          <body name="post" pos="1 0 0"><joint name="sway" axis="1 0 0"/><geom size=".1" pos="0 0 0.2"/></body>
        </replicate>"""),
    "joints that follow others": world(
        """
        <body name="a"><joint name="lead" axis="0 1 0" ref="0.2" range="-1 1"/><geom size=".1" pos="0.2 0 0"/>
          <body name="b" pos="0.4 0 0"><joint name="follow" axis="0 1 0" ref="-0.1" damping="0.3" armature="0.1"/>
            <geom size=".1" pos="0.2 0 0"/>
            <body name="c" pos="0.4 0 0"><joint name="third" type="slide" axis="1 0 0"/><geom size=".1"/></body>
          </body>
        </body>""",
        after="""<equality><joint joint1="follow" joint2="lead" polycoef="0.3 -2 0 0 0"/>
                 <joint joint1="third" joint2="follow" polycoef="0 0.1"/></equality>""",
    ),
    "friction, armature, efforts, limits": world("""
        <body name="a"><joint name="j" axis="1 0 0" armature="0.2" damping="0.3" frictionloss="0.4" range="-1 2"
            actuatorfrcrange="-5 5"/><geom size=".1" pos="0.1 0 0"/>
          <body name="b" pos="0 0 1"><joint name="k" type="ball" armature="0.02" damping="0.03" frictionloss="0.04"/>
            <geom size=".1"/>
            <body name="c"><joint name="l" type="slide" axis="0 0 1" range="0 1" limited="false"/><geom size=".1"/></body>
          </body>
        </body>"""),
    "gravity elsewhere": world(
        '<body name="a"><joint axis="1 0 0"/><geom size=".1" pos="0.1 0.2 0.3"/></body>',
        '<option gravity="1 2 3" density="0"/>',
    ),
    "no gravity": world(
        '<body name="a"><joint axis="1 0 0"/><geom size=".1" pos="0.1 0.2 0.3"/></body>',
        '<option gravity="1 2 3"><flag gravity="disable"/></option>',
    ),
    "meshes that only show": world(
        """
        <geom type="plane" size="1 1 1"/>
        <body name="base" pos="0 0 1"><geom type="mesh" mesh="rock" material="shiny"/>
          <body name="a"><joint axis="1 0 0"/><inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
            <geom class="visual"/>
            <body name="b" pos="0 0 1"><joint axis="0 1 0"/><geom size=".1"/><geom class="visual" mass="0"/>
              <geom type="box" size=".1 .1 .1" group="2" mass="0"/></body>
          </body>
        </body>""",
        '<default><default class="visual"><geom type="mesh" mesh="rock" material="shiny" group="2"/></default></default>'
        + TETRAHEDRON.replace("<asset>", '<asset><material name="shiny" rgba="1 0 0 1"/>'),
    ),
    "sites and cameras": world("""
        <light pos="0 0 3"/><site name="origin"/>
        <body name="a"><joint name="a" axis="1 0 0"/><geom size=".1" pos="0.1 0.2 0.3"/><site name="a" pos="0 0 1"/>
          <site pos="9 9 9"/><site name="tip" pos="1 2 3" euler="0.1 0.2 0.3"/>
          <camera name="eye" pos="0 0 1" xyaxes="0 1 0 0 0 1"/><camera name="chase" mode="track"/>
        </body>"""),
    "what MuJoCo adds": world(
        """
        <body name="a" gravcomp="1"><joint name="j" axis="1 0 0" stiffness="3" springref="0.2"/><geom size=".1" pos="0.1 0 0"/>
          <body name="b" pos="0 0 1"><joint name="k" axis="0 1 0"/><geom size=".1" pos="0.1 0 0"/><site name="s"/></body>
        </body>
        <body name="target" mocap="true" pos="1 1 1"/>""",
        '<option density="1.2" viscosity="1e-5"/>',
        """<tendon><fixed name="belt"><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed></tendon>
           <equality><connect body1="b" body2="target" anchor="0 0 0"/></equality>
           <contact><exclude body1="a" body2="b"/></contact>
           <actuator><motor joint="j"/><position joint="k" kp="3"/><motor tendon="belt"/></actuator>
           <sensor><jointpos joint="j"/></sensor>
           <keyframe><key qpos="0 1"/></keyframe>""",
    ),
}
